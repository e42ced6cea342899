//! The basis of an approval can end at any time: the very next call is refused.

use super::{applies, difference, held, runs, unconfirmed};
use countersign_engine::{Refusal, Role};
use countersign_protocol::{aaep::event::Risk, project::ProjectDocument};
use countersign_testkit::{
    bank::{BankScene, GatewayRequest, Manner, PlanDraft, paying, paying_exactly, payouts, transfers},
    on_both_stores,
};
use serde_json::json;

fn transfer() -> GatewayRequest {
    BankScene::transfer_of("100.00")
}

/// Transfers that need an approver.
fn approved_by_others(document: &mut ProjectDocument) {
    payouts(document);
    transfers(document).approvers = vec!["role:approver".into()];
}

on_both_stores! {
    ///
    async fn a_step_that_was_taken_back_is_held_and_the_others_still_run(kit) {
        let scene = kit.bank_with(payouts).await;
        let bob = scene.plane.person("bob").await;
        let draft = PlanDraft::of(paying_exactly("1.00")).runs(paying_exactly("2.00"));
        scene.planned(&draft).await;
        let first = scene.step(&draft, 1).await;
        assert!(matches!(bob.takes_back(&scene.plane, &first).await, Err(Refusal::NotAuthorized(_))));
        scene.alice.takes_back(&scene.plane, &first).await.unwrap();
        let decision = held(&scene, BankScene::transfer_of("1.00")).await;
        assert_eq!(difference(&decision, &draft), "the step is skipped");
        runs(&scene, "2.00").await;
        assert!(matches!(scene.alice.takes_back(&scene.plane, &first).await, Err(Refusal::Conflict(_))));
        assert_eq!(scene.bank.effects().len(), 1);
        assert_eq!(scene.statuses(&draft).await, ("completed".into(), vec!["skipped".into(), "completed".into()]));
    }

    ///
    async fn nothing_more_of_a_cancelled_plan_runs_for_any_canceller(kit) {
        for by_agent in [false, true] {
            let scene = kit.bank_with(payouts).await;
            let bob = scene.plane.person("bob").await;
            let draft = PlanDraft::of(paying(5));
            scene.planned(&draft).await;
            runs(&scene, "100.00").await;
            assert!(bob.cancels(&scene.plane, &draft).await.is_err());
            runs(&scene, "100.00").await;
            let path = format!("/mplp/v1/plans/{}/cancel", draft.id());
            match by_agent {
                true => drop(scene.posts(&scene.agent, &path, &json!({})).await.expect(200)),
                false => scene.alice.cancels(&scene.plane, &draft).await.unwrap(),
            }
            held(&scene, transfer()).await;
            assert_eq!(scene.bank.effects().len(), 2);
            assert_eq!(scene.statuses(&draft).await.0, "cancelled");
        }
    }

    ///
    async fn a_call_under_way_when_its_step_was_revoked_still_counts(kit) {
        let scene = kit.bank_with(payouts).await;
        let draft = PlanDraft::of(paying(5));
        scene.planned(&draft).await;
        scene.bank.behaves(Manner::Thoughtful);
        let (answer, ()) = tokio::join!(scene.sends(transfer()), async {
            scene.bank.something_arrives().await;
            scene.alice.takes_back(&scene.plane, &scene.step(&draft, 1).await).await.unwrap();
            held(&scene, BankScene::transfer_of("2.00")).await;
            scene.bank.answer_now();
        });
        answer.expect(201);
        let step = scene.step(&draft, 1).await;
        assert_eq!((step["runs"]["done"].as_i64(), step["runs"]["under_way"].as_i64()), (Some(1), Some(0)));
        assert_eq!((scene.bank.effects().len(), scene.uses_left(&draft, 1).await), (1, 0));
        held(&scene, BankScene::transfer_of("2.00")).await;
    }

    ///
    async fn a_plan_dies_with_the_delegation(kit) {
        let scene = kit.bank_with(payouts).await;
        let draft = PlanDraft::of(paying(5));
        scene.planned(&draft).await;
        let body = json!({ "delegation_id": scene.connected.delegation_id, "reason": "user_requested" });
        scene.alice.post(&scene.plane, "/agent/revoke", &body).await.expect(200);
        assert_eq!(scene.sends(transfer()).await.refusal(), (401, "delegation_revoked".into()));
        // Nor does another session of the person's next delegation inherit it.
        let connected = scene.plane.connect(&scene.alice, scene.plane.acme(), countersign_testkit::bank::SCOPES).await;
        let next = scene.plane.holder(&connected, |_| {}).await;
        assert_eq!(scene.sends_as(&next, transfer()).await.refusal(), unconfirmed());
        assert_eq!(scene.bank.got().len(), 0);
    }

    ///
    async fn a_plan_is_worth_nothing_while_its_approver_could_not_approve_it(kit) {
        let scene = kit.bank_with(approved_by_others).await;
        let carol = scene.plane.person_in("bank", "carol", &[Role::Approver]).await;
        let draft = PlanDraft::of(paying(5));
        let decision = scene.proposed(&draft).await;
        assert!(scene.alice.tries(&scene.plane, &decision, true).await.is_some(), "approvers decide about it");
        held(&scene, transfer()).await;
        carol.accepts(&scene.plane, &decision).await;
        runs(&scene, "100.00").await;
        scene.plane.give_roles("bank", "carol", &[Role::User]).await;
        held(&scene, BankScene::transfer_of("2.00")).await;
        assert_eq!(scene.bank.effects().len(), 1);
    }

    ///
    async fn a_plan_is_worth_nothing_once_the_account_that_approved_it_is_shut(kit) {
        let scene = kit.bank_with(approved_by_others).await;
        let carol = scene.plane.person_in("bank", "carol", &[Role::Approver]).await;
        let decision = scene.proposed(&PlanDraft::of(paying(5))).await;
        carol.accepts(&scene.plane, &decision).await;
        runs(&scene, "100.00").await;
        scene.plane.engine.people().set_disabled("carol", true).await.unwrap();
        held(&scene, BankScene::transfer_of("2.00")).await;
        assert_eq!(scene.bank.effects().len(), 1);
    }

    ///
    async fn a_plan_by_the_old_rules_of_its_route_is_gone_and_a_person_is_asked(kit) {
        type Change = fn(&mut ProjectDocument);
        let changes: [Change; 4] = [
            |document| transfers(document).approvers = vec!["role:approver".into()],
            |document| transfers(document).risk = Some(Risk::High),
            |document| transfers(document).describe.as_mut().unwrap().action = "Give {body.amount} away".into(),
            |document| document.decisions.own_approval = true,
        ];
        for change in changes {
            let scene = kit.bank_with(payouts).await;
            scene.plane.person_in("bank", "carol", &[Role::Approver]).await;
            scene.planned(&PlanDraft::of(paying(5))).await;
            runs(&scene, "100.00").await;
            applies(&scene, change).await;
            held(&scene, BankScene::transfer_of("2.00")).await;
            held(&scene, BankScene::transfer_of("2.00").confirmed("true")).await;
            assert_eq!(scene.bank.effects().len(), 1);
        }
    }

    ///
    async fn an_approval_by_the_new_rules_counts_although_one_by_the_old_ones_is_open(kit) {
        let scene = kit.bank_with(payouts).await;
        scene.planned(&PlanDraft::of(paying(5))).await;
        applies(&scene, |document| transfers(document).timeout_seconds = Some(90)).await;
        let decision = held(&scene, transfer()).await;
        scene.alice.accepts_within(&scene.plane, &decision, json!({ "uses": 2 })).await.unwrap();
        runs(&scene, "100.00").await;
        runs(&scene, "100.00").await;
        held(&scene, transfer()).await;
        assert_eq!(scene.bank.effects().len(), 2);
    }

    ///
    async fn an_approvers_approval_counts_although_one_of_a_former_approver_is_open(kit) {
        let scene = kit.bank_with(approved_by_others).await;
        let carol = scene.plane.person_in("bank", "carol", &[Role::Approver]).await;
        let dave = scene.plane.person_in("bank", "dave", &[Role::Approver]).await;
        carol.accepts(&scene.plane, &scene.proposed(&PlanDraft::of(paying(5))).await).await;
        scene.plane.give_roles("bank", "carol", &[Role::User]).await;
        dave.accepts(&scene.plane, &scene.proposed(&PlanDraft::of(paying(1))).await).await;
        runs(&scene, "100.00").await;
        held(&scene, transfer()).await;
        assert_eq!(scene.bank.effects().len(), 1);
    }

    ///
    async fn rules_about_something_else_leave_a_plan_as_it_is(kit) {
        let scene = kit.bank_with(payouts).await;
        scene.planned(&PlanDraft::of(paying(5))).await;
        applies(&scene, |document| {
            document.display_name = "The Bank".into();
            let orders = document.routes.iter_mut().find(|route| route.id == "orders").unwrap();
            orders.risk = Some(Risk::High);
            document.plans.max_uses = 7;
        })
        .await;
        runs(&scene, "100.00").await;
        assert_eq!(scene.alice.waiting_questions(&scene.plane).await, 0);
    }
}
