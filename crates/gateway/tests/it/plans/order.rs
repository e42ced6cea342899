//! Steps run in the approved order, and only approved ones (MPLP step rules, R-7).

use super::{difference, held, last_use};
use countersign_engine::{NotCounted, Role};
use countersign_testkit::{
    bank::{BankScene, GatewayRequest, Manner, PlanDraft, paying_exactly, payouts},
    on_both_stores,
};
use serde_json::json;

fn first() -> GatewayRequest {
    BankScene::transfer_of("1.00")
}

fn second() -> GatewayRequest {
    BankScene::transfer_of("2.00")
}

/// The second payment depends on the first.
fn one_after_the_other() -> PlanDraft {
    PlanDraft::of(paying_exactly("1.00")).then_runs(paying_exactly("2.00"))
}

fn statuses(plan: &str, steps: [&str; 2]) -> (String, Vec<String>) {
    (plan.into(), steps.map(str::to_owned).to_vec())
}

on_both_stores! {
    ///
    async fn a_step_is_held_until_the_one_that_it_depends_on_is_completed(kit) {
        let scene = kit.bank_with(payouts).await;
        let draft = one_after_the_other();
        scene.planned(&draft).await;
        let decision = held(&scene, second()).await;
        assert_eq!(decision["plan_difference"]["step_id"], draft.step(2));
        assert_eq!(difference(&decision, &draft), "step 1, which it depends on, is not completed");
        scene.bank.behaves(Manner::Thoughtful);
        let (answer, ()) = tokio::join!(scene.sends(first()), async {
            scene.bank.something_arrives().await;
            held(&scene, second()).await;
            assert_eq!(scene.statuses(&draft).await, statuses("in_progress", ["in_progress", "pending"]));
            scene.bank.behaves(Manner::Obliging);
            scene.bank.answer_now();
        });
        answer.expect(201);
        assert_eq!(scene.statuses(&draft).await, statuses("in_progress", ["completed", "pending"]));
        scene.sends(second()).await.expect(201);
        assert_eq!(scene.statuses(&draft).await, statuses("completed", ["completed", "completed"]));
        assert_eq!(scene.bank.effects().len(), 2);
    }

    ///
    async fn a_step_that_failed_for_good_blocks_the_one_that_depends_on_it(kit) {
        let scene = kit.bank_with(payouts).await;
        let ada = scene.plane.person_in("bank", "ada", &[Role::Admin]).await;
        let draft = one_after_the_other();
        let decision = scene.planned(&draft).await;
        scene.bank.behaves(Manner::Vanishing);
        assert_eq!(scene.sends(first()).await.status, 502);
        scene.bank.behaves(Manner::Obliging);
        held(&scene, second()).await;
        let execution = last_use(&scene, &decision).await;
        assert_eq!(execution["state"], "unknown");
        ada.finds_out(&scene.plane, execution["execution_id"].as_str().unwrap(), false).await.unwrap();
        assert_eq!(scene.statuses(&draft).await, statuses("failed", ["failed", "blocked"]));
        for sent in [first(), second()] {
            held(&scene, sent).await;
        }
        assert_eq!(scene.bank.effects().len(), 1, "only what nobody knows of");
    }

    ///
    async fn a_step_that_the_bank_refused_may_be_tried_again_and_the_next_one_waits_for_it(kit) {
        let scene = kit.bank_with(payouts).await;
        let draft = one_after_the_other();
        scene.planned(&draft).await;
        scene.bank.behaves(Manner::Status(422));
        scene.sends(first()).await.expect(422);
        held(&scene, second()).await;
        scene.bank.behaves(Manner::Obliging);
        assert_eq!(scene.uses_left(&draft, 1).await, 1);
        scene.sends(first()).await.expect(201);
        scene.sends(second()).await.expect(201);
        assert_eq!(scene.statuses(&draft).await.0, "completed");
    }

    ///
    async fn a_step_outside_of_the_approval_is_held(kit) {
        let scene = kit.bank_with(payouts).await;
        let draft = PlanDraft::of(paying_exactly("1.00")).runs(paying_exactly("2.00"));
        let decision = scene.proposed(&draft).await;
        scene.alice.accepts_steps(&scene.plane, &decision, &[draft.step(1)]).await.unwrap();
        assert_eq!(scene.statuses(&draft).await, statuses("approved", ["pending", "skipped"]));
        let asked = held(&scene, second()).await;
        assert_eq!(asked["plan_difference"]["step_id"], draft.step(2));
        assert_eq!(difference(&asked, &draft), "the step is skipped");
        assert_eq!(scene.bank.got().len(), 0);
        scene.sends(first()).await.expect(201);
        held(&scene, second()).await;
        assert_eq!(scene.statuses(&draft).await, statuses("completed", ["completed", "skipped"]));
    }

    ///
    async fn steps_that_could_not_stand_alone_are_not_approved_alone(kit) {
        let scene = kit.bank_with(payouts).await;
        let draft = one_after_the_other();
        let decision = scene.proposed(&draft).await;
        let of_another = PlanDraft::of(paying_exactly("3.00")).step(1);
        for steps in [vec![draft.step(2)], vec![], vec![draft.step(1), of_another]] {
            let counted = scene.alice.accepts_steps(&scene.plane, &decision, &steps).await;
            assert!(matches!(counted, Err(NotCounted::OutOfBounds(_))), "{steps:?}: {counted:?}");
        }
        let bounds = json!({ "uses": 3 });
        let bounded = scene.alice.accepts_within(&scene.plane, &decision, bounds).await;
        assert!(matches!(bounded, Err(NotCounted::OutOfBounds(_))), "a plan's bounds are its own: {bounded:?}");
        assert_eq!(scene.statuses(&draft).await, statuses("proposed", ["pending", "pending"]));
        for sent in [first(), second()] {
            held(&scene, sent).await;
        }
        assert_eq!(scene.bank.got().len(), 0);
    }

    ///
    async fn steps_end_with_the_time_that_the_person_was_shown(kit) {
        let scene = kit.bank_with(payouts).await;
        let draft = one_after_the_other().lasting(600);
        scene.planned(&draft).await;
        scene.plane.advance_secs(599).await;
        scene.sends(first()).await.expect(201);
        scene.plane.advance_unseen(1).await;
        held(&scene, second()).await;
        scene.plane.advance_secs(0).await;
        assert_eq!(scene.statuses(&draft).await, statuses("failed", ["completed", "blocked"]));
        held(&scene, second()).await;
        assert_eq!(scene.bank.effects().len(), 1);
    }
}
