//! The remainder of an approval is in the store, and nowhere else.

use super::{held, runs};
use countersign_testkit::{
    Kit, Setup,
    bank::{Bank, BankScene, GatewayListener, Manner, PlanDraft, paying_within, payouts},
    leaks::Folder,
    on_both_stores,
};
use serde_json::json;

/// A fixture with a database that outlives its node.
async fn lasting(kit: Kit) -> (BankScene, Folder) {
    let bank = Bank::open().await;
    let (plane, folder) = kit.lasting_plane(Setup::bank(&bank, payouts)).await;
    (BankScene::on(plane, bank).await, folder)
}

/// The same fixture after its only node was ended and another was started.
async fn restarted(scene: BankScene) -> BankScene {
    let BankScene { plane, bank, alice, connected, agent, .. } = scene;
    let plane = plane.restart().await;
    let gateway = GatewayListener::open(&plane.engine, |_| {}).await;
    BankScene { plane, bank, gateway, alice, connected, agent }
}

on_both_stores! {
    ///
    async fn counts_and_sums_survive_a_restart(kit) {
        let (scene, _folder) = lasting(kit).await;
        let draft = PlanDraft::of(paying_within(json!({ "most": "400.00", "sum": "1000.00" }), 4)).does("Write the report");
        scene.planned(&draft).await;
        runs(&scene, "400.00").await;
        scene.bank.behaves(Manner::Vanishing);
        assert_eq!(scene.sends(BankScene::transfer_of("300.00")).await.status, 502);
        scene.bank.behaves(Manner::Obliging);
        let before = (scene.step(&draft, 1).await, scene.statuses(&draft).await);

        let scene = restarted(scene).await;
        assert_eq!((scene.step(&draft, 1).await, scene.statuses(&draft).await), before);
        held(&scene, BankScene::transfer_of("300.01")).await;
        assert_eq!(scene.sends(BankScene::transfer_of("300.00")).await.refusal(), (409, "conflict".into()));
        runs(&scene, "299.99").await;

        let scene = restarted(scene).await;
        runs(&scene, "0.01").await;
        held(&scene, BankScene::transfer_of("0.01")).await;
        assert_eq!(scene.bank.effects().len(), 4);
    }

    ///
    async fn a_plan_that_fell_due_while_nothing_was_running_lets_nothing_run(kit) {
        let (scene, _folder) = lasting(kit).await;
        let draft = PlanDraft::of(paying_within(json!({ "most": "400.00" }), 4)).lasting(600);
        scene.planned(&draft).await;
        runs(&scene, "1.00").await;
        scene.plane.advance_unseen(600).await;
        let scene = restarted(scene).await;
        held(&scene, BankScene::transfer_of("2.00")).await;
        scene.plane.advance_secs(0).await;
        assert_eq!(scene.statuses(&draft).await, ("failed".into(), vec!["failed".into()]));
        assert_eq!(scene.bank.effects().len(), 1);
    }
}
