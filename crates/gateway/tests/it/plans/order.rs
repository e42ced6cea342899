//! Steps run in the approved order, and only approved ones (MPLP step rules, R-7).

use super::{difference, held, last_use, statuses};
use countersign_engine::{NotCounted, Role};
use countersign_testkit::{
    bank::{BankFixture, GatewayRequest, Manner, PlanDraft, paying_exactly, payouts},
    on_both_stores,
};
use serde_json::json;

fn first() -> GatewayRequest {
    BankFixture::transfer_of("1.00")
}

fn second() -> GatewayRequest {
    BankFixture::transfer_of("2.00")
}

/// The second payment depends on the first.
fn one_after_the_other() -> PlanDraft {
    PlanDraft::of(paying_exactly("1.00")).then_runs(paying_exactly("2.00"))
}

on_both_stores! {
    ///
    async fn a_step_is_held_until_the_one_that_it_depends_on_is_completed(kit) {
        let fixture = kit.bank_with(payouts).await;
        let draft = one_after_the_other();
        fixture.planned(&draft).await;
        let decision = held(&fixture, second()).await;
        assert_eq!(decision["plan_difference"]["step_id"], draft.step(2));
        assert_eq!(difference(&decision, &draft), "step 1, which it depends on, is not completed");
        fixture.bank.set_manner(Manner::Thoughtful);
        let (answer, ()) = tokio::join!(fixture.sends(first()), async {
            fixture.bank.next_arrival().await;
            held(&fixture, second()).await;
            assert_eq!(fixture.statuses(&draft).await, statuses("in_progress", &["in_progress", "pending"]));
            fixture.bank.set_manner(Manner::Obliging);
            fixture.bank.release_response();
        });
        answer.expect(201);
        assert_eq!(fixture.statuses(&draft).await, statuses("in_progress", &["completed", "pending"]));
        fixture.sends(second()).await.expect(201);
        assert_eq!(fixture.statuses(&draft).await, statuses("completed", &["completed", "completed"]));
        assert_eq!(fixture.bank.effects().len(), 2);
    }

    ///
    async fn a_step_that_failed_for_good_blocks_the_one_that_depends_on_it(kit) {
        let fixture = kit.bank_with(payouts).await;
        let ada = fixture.plane.person_in("bank", "ada", &[Role::Admin]).await;
        let draft = one_after_the_other();
        let decision = fixture.planned(&draft).await;
        fixture.bank.set_manner(Manner::Vanishing);
        assert_eq!(fixture.sends(first()).await.status, 502);
        fixture.bank.set_manner(Manner::Obliging);
        held(&fixture, second()).await;
        let execution = last_use(&fixture, &decision).await;
        assert_eq!(execution["state"], "unknown");
        ada.reconciles(&fixture.plane, execution["execution_id"].as_str().unwrap(), false).await.unwrap();
        assert_eq!(fixture.statuses(&draft).await, statuses("failed", &["failed", "blocked"]));
        for sent in [first(), second()] {
            held(&fixture, sent).await;
        }
        assert_eq!(fixture.bank.effects().len(), 1, "only what nobody knows of");
    }

    ///
    async fn a_step_that_the_bank_refused_may_be_tried_again_and_the_next_one_waits_for_it(kit) {
        let fixture = kit.bank_with(payouts).await;
        let draft = one_after_the_other();
        fixture.planned(&draft).await;
        fixture.bank.set_manner(Manner::Status(422));
        fixture.sends(first()).await.expect(422);
        held(&fixture, second()).await;
        fixture.bank.set_manner(Manner::Obliging);
        assert_eq!(fixture.uses_left(&draft, 1).await, 1);
        fixture.sends(first()).await.expect(201);
        fixture.sends(second()).await.expect(201);
        assert_eq!(fixture.statuses(&draft).await.0, "completed");
    }

    ///
    async fn a_step_outside_of_the_approval_is_held(kit) {
        let fixture = kit.bank_with(payouts).await;
        let draft = PlanDraft::of(paying_exactly("1.00")).runs(paying_exactly("2.00"));
        let decision = fixture.proposed(&draft).await;
        fixture.alice.accepts_steps(&fixture.plane, &decision, &[draft.step(1)]).await.unwrap();
        assert_eq!(fixture.statuses(&draft).await, statuses("approved", &["pending", "skipped"]));
        let asked = held(&fixture, second()).await;
        assert_eq!(asked["plan_difference"]["step_id"], draft.step(2));
        assert_eq!(difference(&asked, &draft), "the step is skipped");
        assert_eq!(fixture.bank.got().len(), 0);
        fixture.sends(first()).await.expect(201);
        held(&fixture, second()).await;
        assert_eq!(fixture.statuses(&draft).await, statuses("completed", &["completed", "skipped"]));
    }

    ///
    async fn steps_that_could_not_stand_alone_are_not_approved_alone(kit) {
        let fixture = kit.bank_with(payouts).await;
        let draft = one_after_the_other();
        let decision = fixture.proposed(&draft).await;
        let of_another = PlanDraft::of(paying_exactly("3.00")).step(1);
        for steps in [vec![draft.step(2)], vec![], vec![draft.step(1), of_another]] {
            let counted = fixture.alice.accepts_steps(&fixture.plane, &decision, &steps).await;
            assert!(matches!(counted, Err(NotCounted::OutOfBounds(_))), "{steps:?}: {counted:?}");
        }
        let bounds = json!({ "uses": 3 });
        let bounded = fixture.alice.accepts_within(&fixture.plane, &decision, bounds).await;
        assert!(matches!(bounded, Err(NotCounted::OutOfBounds(_))), "a plan's bounds are its own: {bounded:?}");
        assert_eq!(fixture.statuses(&draft).await, statuses("proposed", &["pending", "pending"]));
        for sent in [first(), second()] {
            held(&fixture, sent).await;
        }
        assert_eq!(fixture.bank.got().len(), 0);
    }

    ///
    async fn steps_end_with_the_time_that_the_person_was_shown(kit) {
        let fixture = kit.bank_with(payouts).await;
        let draft = one_after_the_other().lasting(600);
        fixture.planned(&draft).await;
        fixture.plane.advance_secs(599).await;
        fixture.sends(first()).await.expect(201);
        fixture.plane.advance_without_settling(1).await;
        held(&fixture, second()).await;
        fixture.plane.advance_secs(0).await;
        assert_eq!(fixture.statuses(&draft).await, statuses("failed", &["completed", "blocked"]));
        held(&fixture, second()).await;
        assert_eq!(fixture.bank.effects().len(), 1);
    }
}
