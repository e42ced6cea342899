//! A standing approval of one held call that covers more like it: a number, a time, a sum.

use super::{held, held_as, last_use, runs};
use countersign_engine::NotCounted;
use countersign_protocol::project::Route;
use countersign_testkit::{
    bank::{BankFixture, GatewayRequest, Manner, payouts},
    on_both_stores,
};
use serde_json::{Value, json};

/// Alice approves a transfer of 100 dollars, and more within these limits.
async fn allowed(fixture: &BankFixture, bounds: Value) -> Value {
    let decision = held(fixture, BankFixture::transfer_of("100.00")).await;
    fixture.alice.accepts_within(&fixture.plane, &decision, bounds).await.unwrap();
    decision
}

fn in_euro(amount: &str) -> GatewayRequest {
    let body = json!({ "from": "ours", "to": "theirs", "amount": amount, "currency": "EUR" });
    GatewayRequest::new("POST", "/transfers").json(body.to_string())
}

on_both_stores! {
    ///
    async fn invalid_bounds_make_no_approval(kit) {
        let fixture = kit.bank_with(payouts).await;
        let decision = held(&fixture, BankFixture::transfer_of("100.00")).await;
        let released = |name: &str, bound: Value| json!({ "uses": 2, "released": { name: bound } });
        for bounds in [
            json!({ "uses": 101 }),
            json!({ "seconds": 86_401 }),
            released("body.note", json!({ "text": 10 })),
            released("content_type", json!({ "text": 10 })),
            released("body.amount", json!({ "most": "99.99" })),
            released("body.amount", json!({ "most": "500.00", "unit": "EUR" })),
            released("body.amount", json!({ "most": "500.00", "sum": "99.99" })),
        ] {
            let counted = fixture.alice.accepts_within(&fixture.plane, &decision, bounds.clone()).await;
            assert!(matches!(counted, Err(NotCounted::OutOfBounds(_))), "{bounds}: {counted:?}");
        }
        held(&fixture, BankFixture::transfer_of("100.00")).await;
        assert_eq!(fixture.bank.got().len(), 0);
    }

    ///
    async fn an_approval_for_three_uses_is_for_three(kit) {
        let fixture = kit.bank_with(payouts).await;
        let decision = allowed(&fixture, json!({ "uses": 3 })).await;
        held(&fixture, BankFixture::transfer_of("100.01")).await;
        for _ in 0..3 {
            runs(&fixture, "100.00").await;
        }
        let anew = held(&fixture, BankFixture::transfer_of("100.00")).await;
        assert_ne!(anew["decision_id"], decision["decision_id"]);
        assert_eq!(fixture.bank.effects().len(), 3);
    }

    ///
    async fn an_approval_is_for_the_matched_route_although_another_would_fit_its_path(kit) {
        let fixture = kit.bank_with(|document| {
            payouts(document);
            let taken = document.routes.iter().find(|route| route.path == "/transfers" && route.method == "POST");
            let other = Route { id: "any-desk".into(), path: "/{desk}".into(), ..taken.unwrap().clone() };
            document.routes.insert(0, other);
        }).await;
        allowed(&fixture, json!({ "uses": 2 })).await;
        runs(&fixture, "100.00").await;
        runs(&fixture, "100.00").await;
        assert_eq!(fixture.bank.effects().len(), 2);
    }

    ///
    async fn redeeming_the_call_that_was_asked_about_is_one_of_its_uses(kit) {
        let fixture = kit.bank_with(payouts).await;
        let decision = allowed(&fixture, json!({ "uses": 2 })).await;
        let redeem = format!("/.countersign/decisions/{}/redeem", decision["decision_id"].as_str().unwrap());
        fixture.sends(GatewayRequest::new("POST", &redeem)).await.expect(201);
        runs(&fixture, "100.00").await;
        assert!(!fixture.sends(GatewayRequest::new("POST", &redeem)).await.is_success());
        held(&fixture, BankFixture::transfer_of("100.00")).await;
        assert_eq!(fixture.bank.effects().len(), 2);
    }

    ///
    async fn an_approval_for_thirty_minutes_ends_after_thirty(kit) {
        let fixture = kit.bank_with(payouts).await;
        allowed(&fixture, json!({ "seconds": 1800 })).await;
        runs(&fixture, "100.00").await;
        fixture.plane.advance_secs(1799).await;
        runs(&fixture, "100.00").await;
        fixture.plane.advance_without_settling(1).await;
        held(&fixture, BankFixture::transfer_of("100.00")).await;
        fixture.plane.advance_secs(60).await;
        held(&fixture, BankFixture::transfer_of("100.00").confirmed("true")).await;
        assert_eq!(fixture.bank.effects().len(), 2);
    }

    ///
    async fn an_approval_up_to_a_sum_ends_at_the_sum(kit) {
        let fixture = kit.bank_with(payouts).await;
        let bound = json!({ "most": "400.00", "sum": "1000.00" });
        allowed(&fixture, json!({ "released": { "body.amount": bound } })).await;
        held(&fixture, BankFixture::transfer_of("400.01")).await;
        for amount in ["400.00", "400.00"] {
            runs(&fixture, amount).await;
        }
        held(&fixture, BankFixture::transfer_of("200.01")).await;
        runs(&fixture, "200.00").await;
        held(&fixture, BankFixture::transfer_of("0.01")).await;
        // Also for the very call of the question.
        held(&fixture, BankFixture::transfer_of("100.00")).await;
        assert_eq!(fixture.bank.effects().len(), 3);
    }

    ///
    async fn an_amount_in_another_unit_than_the_one_shown_is_another_amount(kit) {
        let fixture = kit.bank_with(payouts).await;
        let released = json!({
            "body.amount": { "most": "400.00" },
            "body.currency": { "one_of": ["USD", "EUR"] },
        });
        allowed(&fixture, json!({ "uses": 5, "released": released })).await;
        held(&fixture, in_euro("1.00")).await;
        assert_eq!(fixture.bank.got().len(), 0);
        runs(&fixture, "1.00").await;
    }

    ///
    async fn a_standing_approval_is_for_the_session_that_asked(kit) {
        let fixture = kit.bank_with(payouts).await;
        let decision = allowed(&fixture, json!({ "uses": 3 })).await;
        let other = fixture.another(|_| {}).await;
        let anew = held_as(&fixture, &other, BankFixture::transfer_of("100.00")).await;
        assert_ne!(anew["decision_id"], decision["decision_id"]);
        assert_eq!(fixture.bank.got().len(), 0);
        runs(&fixture, "100.00").await;
    }

    ///
    async fn a_call_with_unknown_outcome_is_not_run_again_by_the_same_approval_under_any_name(kit) {
        let fixture = kit.bank_with(payouts).await;
        let decision = allowed(&fixture, json!({ "uses": 3 })).await;
        let token = fixture.plane.confirm_token(decision["decision_id"].as_str().unwrap()).await;
        fixture.bank.set_manner(Manner::Vanishing);
        assert_eq!(fixture.sends(BankFixture::transfer_of("100.00")).await.status, 502);
        fixture.bank.set_manner(Manner::Obliging);
        assert_eq!(last_use(&fixture, &decision).await["state"], "unknown");
        let transfer = || BankFixture::transfer_of("100.00");
        for sent in [transfer(), transfer().confirmed("true"), transfer().confirmed(&token), transfer().waits(1)] {
            let refused = fixture.sends(sent.clone()).await;
            assert_eq!(refused.refusal(), (409, "conflict".into()), "{sent:?}");
        }
        assert_eq!(fixture.bank.effects().len(), 1);
    }

    ///
    async fn a_refusal_by_the_bank_is_not_counted_and_a_lost_response_is(kit) {
        let fixture = kit.bank_with(payouts).await;
        let bound = json!({ "most": "400.00", "sum": "500.00" });
        allowed(&fixture, json!({ "uses": 2, "released": { "body.amount": bound } })).await;
        fixture.bank.set_manner(Manner::Status(422));
        fixture.sends(BankFixture::transfer_of("300.00")).await.expect(422);
        fixture.bank.set_manner(Manner::Vanishing);
        assert_eq!(fixture.sends(BankFixture::transfer_of("300.00")).await.status, 502);
        fixture.bank.set_manner(Manner::Obliging);
        held(&fixture, BankFixture::transfer_of("200.01")).await;
        runs(&fixture, "200.00").await;
        held(&fixture, BankFixture::transfer_of("0.01")).await;
        assert_eq!(fixture.bank.effects().len(), 2);
    }
}
