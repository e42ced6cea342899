//! Calls of the highest risk are asked about each time, or fixed in every argument (R-7).

use super::{difference, held, runs};
use countersign_engine::NotCounted;
use countersign_protocol::project::{AskAgain, ProjectDocument};
use countersign_testkit::{
    bank::{BankFixture, GatewayRequest, PlanDraft, paying, paying_exactly},
    on_both_stores,
};
use serde_json::{Value, json};

/// Planned calls are never asked about again, at any risk.
fn never_again(document: &mut ProjectDocument) {
    document.plans.ask_again_from = AskAgain::Never;
}

fn ordering(released: Value) -> Value {
    json!({ "route": "orders", "arguments": { "body": { "item": "pens" } }, "released": released, "uses": 2 })
}

fn order(item: &str) -> GatewayRequest {
    GatewayRequest::new("POST", "/orders").json(json!({ "item": item }).to_string())
}

on_both_stores! {
    /// R-7
    async fn a_plan_may_release_no_argument_of_an_irreversible_high_risk_action(kit) {
        for change in [never_again as fn(&mut ProjectDocument), |_| {}] {
            let fixture = kit.bank_with(change).await;
            let refused = fixture.writes(&PlanDraft::of(paying(3))).await;
            assert_eq!(refused.refusal(), (400, "invalid_request".into()));
            assert!(refused.text().contains("release none"), "{}", refused.text());
            let fixed = PlanDraft::of(paying_exactly("100.00")).runs(paying(3));
            assert_eq!(fixture.writes(&fixed).await.status, 400, "not beside another step either");
            held(&fixture, BankFixture::transfer_of("100.00")).await;
            assert_eq!(fixture.bank.got().len(), 0);
        }
    }

    /// R-7
    async fn an_approval_of_an_irreversible_high_risk_action_releases_nothing(kit) {
        let fixture = kit.bank().await;
        let decision = held(&fixture, BankFixture::transfer_of("100.00")).await;
        let bounds = json!({ "uses": 3, "released": { "body.amount": { "most": "500.00" } } });
        let counted = fixture.alice.accepts_within(&fixture.plane, &decision, bounds).await;
        assert!(matches!(counted, Err(NotCounted::OutOfBounds(_))), "{counted:?}");
        assert_eq!(held(&fixture, BankFixture::transfer_of("100.00")).await["decision_id"], decision["decision_id"]);
        assert_eq!(fixture.bank.got().len(), 0);
        fixture.alice.accepts_within(&fixture.plane, &decision, json!({ "uses": 2 })).await.unwrap();
        runs(&fixture, "100.00").await;
        held(&fixture, BankFixture::transfer_of("100.01")).await;
        runs(&fixture, "100.00").await;
        held(&fixture, BankFixture::transfer_of("100.00")).await;
        assert_eq!(fixture.bank.effects().len(), 2);
    }

    /// R-7
    async fn planned_calls_of_high_risk_are_asked_about_each_time_unless_the_project_says_otherwise(kit) {
        let fixture = kit.bank().await;
        let draft = PlanDraft::of(paying_exactly("100.00"));
        fixture.planned(&draft).await;
        let decision = held(&fixture, BankFixture::transfer_of("100.00")).await;
        assert!(difference(&decision, &draft).contains("its risk requires an approval of every call"), "{decision}");
        assert_eq!(fixture.bank.got().len(), 0);
        fixture.alice.accepts(&fixture.plane, &decision).await;
        fixture.sends(BankFixture::transfer_of("100.00").confirmed("true")).await.expect(201);
    }

    /// R-7
    async fn planned_calls_of_high_risk_run_exactly_as_shown_where_the_project_says_so(kit) {
        let fixture = kit.bank_with(never_again).await;
        let draft = PlanDraft::of(paying_exactly("100.00"));
        fixture.planned(&draft).await;
        let decision = held(&fixture, BankFixture::transfer_of("100.01")).await;
        assert!(difference(&decision, &draft).contains(r#"body.amount is "100.01" instead of "100.00""#), "{decision}");
        assert_eq!(fixture.bank.got().len(), 0);
        runs(&fixture, "100.00").await;
        held(&fixture, BankFixture::transfer_of("100.00")).await;
        assert_eq!(fixture.bank.effects().len(), 1);
    }

    /// R-7
    async fn a_project_may_have_planned_calls_of_every_risk_asked_about(kit) {
        let fixture = kit.bank_with(|document| document.plans.ask_again_from = AskAgain::Low).await;
        let draft = PlanDraft::of(ordering(json!({})));
        fixture.planned(&draft).await;
        let decision = held(&fixture, order("pens")).await;
        assert!(difference(&decision, &draft).contains("its risk requires an approval of every call"), "{decision}");
        assert_eq!(fixture.bank.got().len(), 0);
    }

    /// R-7
    async fn arguments_of_reversible_actions_may_be_released_by_choice_and_by_length(kit) {
        let fixture = kit.bank().await;
        let one_of = PlanDraft::of(ordering(json!({ "body.item": { "one_of": ["pens", "ink"] } })));
        fixture.planned(&one_of).await;
        for item in ["pencils", "Pens", "pens "] {
            held(&fixture, order(item)).await;
        }
        fixture.sends(order("ink")).await.expect(201);
        fixture.sends(order("pens")).await.expect(201);
        let text = PlanDraft::of(ordering(json!({ "body.item": { "text": 6 } })));
        fixture.planned(&text).await;
        for item in ["erasers", "a\nb"] {
            held(&fixture, order(item)).await;
        }
        held(&fixture, GatewayRequest::new("POST", "/orders").json(r#"{"item":7}"#)).await;
        fixture.sends(order("rulers")).await.expect(201);
        assert_eq!(fixture.bank.effects().len(), 3);
    }
}
