//! The basis of an approval can end at any time: the very next call is refused.

use super::{applies, difference, held, runs, unconfirmed};
use countersign_engine::{Refusal, Role};
use countersign_protocol::{aaep::event::Risk, project::ProjectDocument};
use countersign_testkit::{
    bank::{BankFixture, GatewayRequest, Manner, PlanDraft, paying, paying_exactly, payouts, transfers},
    on_both_stores,
};
use serde_json::json;

fn transfer() -> GatewayRequest {
    BankFixture::transfer_of("100.00")
}

/// Transfers that need an approver.
fn approved_by_others(document: &mut ProjectDocument) {
    payouts(document);
    transfers(document).approvers = vec!["role:approver".into()];
}

on_both_stores! {
    ///
    async fn a_step_that_was_taken_back_is_held_and_the_others_still_run(kit) {
        let fixture = kit.bank_with(payouts).await;
        let bob = fixture.plane.person("bob").await;
        let draft = PlanDraft::of(paying_exactly("1.00")).runs(paying_exactly("2.00"));
        fixture.planned(&draft).await;
        let first = fixture.step(&draft, 1).await;
        assert!(matches!(bob.revokes_allowance(&fixture.plane, &first).await, Err(Refusal::NotAuthorized(_))));
        fixture.alice.revokes_allowance(&fixture.plane, &first).await.unwrap();
        let decision = held(&fixture, BankFixture::transfer_of("1.00")).await;
        assert_eq!(difference(&decision, &draft), "the step is skipped");
        runs(&fixture, "2.00").await;
        assert!(matches!(fixture.alice.revokes_allowance(&fixture.plane, &first).await, Err(Refusal::Conflict(_))));
        assert_eq!(fixture.bank.effects().len(), 1);
        assert_eq!(fixture.statuses(&draft).await, ("completed".into(), vec!["skipped".into(), "completed".into()]));
    }

    ///
    async fn nothing_more_of_a_cancelled_plan_runs_for_any_canceller(kit) {
        for by_agent in [false, true] {
            let fixture = kit.bank_with(payouts).await;
            let bob = fixture.plane.person("bob").await;
            let draft = PlanDraft::of(paying(5));
            fixture.planned(&draft).await;
            runs(&fixture, "100.00").await;
            assert!(bob.cancels_plan(&fixture.plane, &draft).await.is_err());
            runs(&fixture, "100.00").await;
            let path = format!("/mplp/v1/plans/{}/cancel", draft.id());
            match by_agent {
                true => drop(fixture.posts(&fixture.agent, &path, &json!({})).await.expect(200)),
                false => fixture.alice.cancels_plan(&fixture.plane, &draft).await.unwrap(),
            }
            held(&fixture, transfer()).await;
            assert_eq!(fixture.bank.effects().len(), 2);
            assert_eq!(fixture.statuses(&draft).await.0, "cancelled");
        }
    }

    ///
    async fn a_call_under_way_when_its_step_was_revoked_still_counts(kit) {
        let fixture = kit.bank_with(payouts).await;
        let draft = PlanDraft::of(paying(5));
        fixture.planned(&draft).await;
        fixture.bank.set_manner(Manner::Thoughtful);
        let (answer, ()) = tokio::join!(fixture.sends(transfer()), async {
            fixture.bank.next_arrival().await;
            fixture.alice.revokes_allowance(&fixture.plane, &fixture.step(&draft, 1).await).await.unwrap();
            held(&fixture, BankFixture::transfer_of("2.00")).await;
            fixture.bank.release_response();
        });
        answer.expect(201);
        let step = fixture.step(&draft, 1).await;
        assert_eq!((step["runs"]["done"].as_i64(), step["runs"]["under_way"].as_i64()), (Some(1), Some(0)));
        assert_eq!((fixture.bank.effects().len(), fixture.uses_left(&draft, 1).await), (1, 0));
        held(&fixture, BankFixture::transfer_of("2.00")).await;
    }

    ///
    async fn a_plan_dies_with_the_delegation(kit) {
        let fixture = kit.bank_with(payouts).await;
        let draft = PlanDraft::of(paying(5));
        fixture.planned(&draft).await;
        let body = json!({ "delegation_id": fixture.connected.delegation_id, "reason": "user_requested" });
        fixture.alice.post(&fixture.plane, "/agent/revoke", &body).await.expect(200);
        assert_eq!(fixture.sends(transfer()).await.refusal(), (401, "delegation_revoked".into()));
        // Nor does another session of the person's next delegation inherit it.
        let connected = fixture.plane.connect(&fixture.alice, fixture.plane.acme(), countersign_testkit::bank::SCOPES).await;
        let next = fixture.plane.holder(&connected, |_| {}).await;
        assert_eq!(fixture.sends_as(&next, transfer()).await.refusal(), unconfirmed());
        assert_eq!(fixture.bank.got().len(), 0);
    }

    ///
    async fn a_plan_is_worth_nothing_while_its_approver_could_not_approve_it(kit) {
        let fixture = kit.bank_with(approved_by_others).await;
        let carol = fixture.plane.person_in("bank", "carol", &[Role::Approver]).await;
        let draft = PlanDraft::of(paying(5));
        let decision = fixture.proposed(&draft).await;
        assert!(fixture.alice.tries(&fixture.plane, &decision, true).await.is_some(), "approvers decide about it");
        held(&fixture, transfer()).await;
        carol.accepts(&fixture.plane, &decision).await;
        runs(&fixture, "100.00").await;
        fixture.plane.give_roles("bank", "carol", &[Role::User]).await;
        held(&fixture, BankFixture::transfer_of("2.00")).await;
        assert_eq!(fixture.bank.effects().len(), 1);
    }

    ///
    async fn a_plan_is_worth_nothing_once_the_account_that_approved_it_is_shut(kit) {
        let fixture = kit.bank_with(approved_by_others).await;
        let carol = fixture.plane.person_in("bank", "carol", &[Role::Approver]).await;
        let decision = fixture.proposed(&PlanDraft::of(paying(5))).await;
        carol.accepts(&fixture.plane, &decision).await;
        runs(&fixture, "100.00").await;
        fixture.plane.engine.people().set_disabled("carol", true).await.unwrap();
        held(&fixture, BankFixture::transfer_of("2.00")).await;
        assert_eq!(fixture.bank.effects().len(), 1);
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
            let fixture = kit.bank_with(payouts).await;
            fixture.plane.person_in("bank", "carol", &[Role::Approver]).await;
            fixture.planned(&PlanDraft::of(paying(5))).await;
            runs(&fixture, "100.00").await;
            applies(&fixture, change).await;
            held(&fixture, BankFixture::transfer_of("2.00")).await;
            held(&fixture, BankFixture::transfer_of("2.00").confirmed("true")).await;
            assert_eq!(fixture.bank.effects().len(), 1);
        }
    }

    ///
    async fn an_approval_by_the_new_rules_counts_although_one_by_the_old_ones_is_open(kit) {
        let fixture = kit.bank_with(payouts).await;
        fixture.planned(&PlanDraft::of(paying(5))).await;
        applies(&fixture, |document| transfers(document).timeout_seconds = Some(90)).await;
        let decision = held(&fixture, transfer()).await;
        fixture.alice.accepts_within(&fixture.plane, &decision, json!({ "uses": 2 })).await.unwrap();
        runs(&fixture, "100.00").await;
        runs(&fixture, "100.00").await;
        held(&fixture, transfer()).await;
        assert_eq!(fixture.bank.effects().len(), 2);
    }

    ///
    async fn an_approvers_approval_counts_although_one_of_a_former_approver_is_open(kit) {
        let fixture = kit.bank_with(approved_by_others).await;
        let carol = fixture.plane.person_in("bank", "carol", &[Role::Approver]).await;
        let dave = fixture.plane.person_in("bank", "dave", &[Role::Approver]).await;
        carol.accepts(&fixture.plane, &fixture.proposed(&PlanDraft::of(paying(5))).await).await;
        fixture.plane.give_roles("bank", "carol", &[Role::User]).await;
        dave.accepts(&fixture.plane, &fixture.proposed(&PlanDraft::of(paying(1))).await).await;
        runs(&fixture, "100.00").await;
        held(&fixture, transfer()).await;
        assert_eq!(fixture.bank.effects().len(), 1);
    }

    ///
    async fn rules_about_something_else_leave_a_plan_as_it_is(kit) {
        let fixture = kit.bank_with(payouts).await;
        fixture.planned(&PlanDraft::of(paying(5))).await;
        applies(&fixture, |document| {
            document.display_name = "The Bank".into();
            let orders = document.routes.iter_mut().find(|route| route.id == "orders").unwrap();
            orders.risk = Some(Risk::High);
            document.plans.max_uses = 7;
        })
        .await;
        runs(&fixture, "100.00").await;
        assert_eq!(fixture.alice.pending_questions(&fixture.plane).await, 0);
    }
}
