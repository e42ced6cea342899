//! The remainder of an approval is in the store, and nowhere else.

use super::{held, runs};
use countersign_testkit::{
    bank::{BankScene, Manner, PlanDraft, paying_within, payouts},
    on_both_stores,
};
use serde_json::json;

on_both_stores! {
    ///
    async fn counts_and_sums_are_after_a_restart_what_they_were_before(kit) {
        let (scene, _folder) = BankScene::lasting(kit, payouts).await;
        let draft = PlanDraft::of(paying_within(json!({ "most": "400.00", "sum": "1000.00" }), 4)).agent_step("Write the report");
        scene.planned(&draft).await;
        runs(&scene, "400.00").await;
        scene.bank.set_manner(Manner::Vanishing);
        assert_eq!(scene.sends(BankScene::transfer_of("300.00")).await.status, 502);
        scene.bank.set_manner(Manner::Obliging);
        let before = (scene.step(&draft, 1).await, scene.statuses(&draft).await);

        let scene = scene.restarted().await;
        assert_eq!((scene.step(&draft, 1).await, scene.statuses(&draft).await), before);
        held(&scene, BankScene::transfer_of("300.01")).await;
        assert_eq!(scene.sends(BankScene::transfer_of("300.00")).await.refusal(), (409, "conflict".into()));
        runs(&scene, "299.99").await;

        let scene = scene.restarted().await;
        runs(&scene, "0.01").await;
        held(&scene, BankScene::transfer_of("0.01")).await;
        assert_eq!(scene.bank.effects().len(), 4);
    }

    ///
    async fn a_plan_that_fell_due_while_nothing_was_running_lets_nothing_run(kit) {
        let (scene, _folder) = BankScene::lasting(kit, payouts).await;
        let draft = PlanDraft::of(paying_within(json!({ "most": "400.00" }), 4)).lasting(600);
        scene.planned(&draft).await;
        runs(&scene, "1.00").await;
        scene.plane.advance_without_settling(600).await;
        let scene = scene.restarted().await;
        held(&scene, BankScene::transfer_of("2.00")).await;
        scene.plane.advance_secs(0).await;
        assert_eq!(scene.statuses(&draft).await, ("failed".into(), vec!["failed".into()]));
        assert_eq!(scene.bank.effects().len(), 1);
    }
}
