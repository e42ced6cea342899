//! Count and sum: exact, and given back only after the bank's own statement that it did nothing (R-6, R-7).

use super::{difference, held, last_use, runs};
use countersign_engine::Role;
use countersign_protocol::project::{AskAgain, ProjectDocument};
use countersign_testkit::{
    bank::{BankFixture, GatewayRequest, Manner, PlanDraft, paying_within, payouts},
    on_both_stores,
};
use serde_json::json;

/// At most 400 dollars each and 1000 altogether.
fn a_thousand(uses: u64) -> PlanDraft {
    PlanDraft::of(paying_within(json!({ "most": "400.00", "sum": "1000.00" }), uses)).agent_step("Write the report")
}

async fn sum_left(fixture: &BankFixture, draft: &PlanDraft) -> String {
    fixture.step(draft, 1).await["runs"]["left"]["sums"][0]["left"].as_str().expect("a sum").to_owned()
}

on_both_stores! {
    /// R-7
    async fn one_cent_above_the_sum_is_held_and_the_rest_may_still_be_claimed(kit) {
        let fixture = kit.bank_with(payouts).await;
        let draft = a_thousand(100);
        fixture.planned(&draft).await;
        runs(&fixture, "400.00").await;
        runs(&fixture, "399.9").await;
        held(&fixture, BankFixture::transfer_of("200.11")).await;
        runs(&fixture, "200.1").await;
        held(&fixture, BankFixture::transfer_of("0.01")).await;
        assert_eq!(fixture.bank.effects().len(), 3);
        assert_eq!((sum_left(&fixture, &draft).await.as_str(), fixture.uses_left(&draft, 1).await), ("0.00", 97));
    }

    /// R-6, R-7
    async fn a_refusal_by_the_bank_itself_gives_back_count_and_sum(kit) {
        let fixture = kit.bank_with(payouts).await;
        let draft = a_thousand(3);
        fixture.planned(&draft).await;
        for status in [400, 409, 422] {
            fixture.bank.set_manner(Manner::Status(status));
            fixture.sends(BankFixture::transfer_of("400.00")).await.expect(status);
            assert_eq!((sum_left(&fixture, &draft).await.as_str(), fixture.uses_left(&draft, 1).await), ("1000.00", 3));
        }
        fixture.bank.set_manner(Manner::Obliging);
        for amount in ["400.00", "400.00", "200.00"] {
            runs(&fixture, amount).await;
        }
        held(&fixture, BankFixture::transfer_of("0.01")).await;
        assert_eq!(fixture.bank.effects().len(), 3);
    }

    /// R-6, R-7
    async fn the_last_use_that_the_bank_refused_is_there_again(kit) {
        let fixture = kit.bank_with(payouts).await;
        let draft = a_thousand(1);
        fixture.planned(&draft).await;
        fixture.bank.set_manner(Manner::NoEffect(500));
        fixture.sends(BankFixture::transfer_of("400.00")).await.expect(500);
        fixture.bank.set_manner(Manner::Obliging);
        assert_eq!(fixture.statuses(&draft).await.1[0], "in_progress");
        runs(&fixture, "399.00").await;
        held(&fixture, BankFixture::transfer_of("1.00")).await;
        assert_eq!(fixture.bank.effects().len(), 1);
    }

    /// R-6, R-7
    async fn an_unknown_outcome_gives_nothing_back_and_neither_does_a_finding(kit) {
        for manner in [Manner::Vanishing, Manner::Garbage, Manner::Status(500), Manner::Status(504)] {
            let fixture = kit.bank_with(payouts).await;
            let ada = fixture.plane.person_in("bank", "ada", &[Role::Admin]).await;
            let draft = a_thousand(2);
            let decision = fixture.planned(&draft).await;
            fixture.bank.set_manner(manner.clone());
            assert!(matches!(fixture.sends(BankFixture::transfer_of("400.00")).await.status, 500 | 502 | 504), "{manner:?}");
            fixture.bank.set_manner(Manner::Obliging);
            let left = async || (sum_left(&fixture, &draft).await, fixture.uses_left(&draft, 1).await);
            assert_eq!(left().await, ("600.00".into(), 1), "{manner:?}");
            let again = fixture.sends(BankFixture::transfer_of("400.00")).await;
            assert_eq!(again.refusal(), (409, "conflict".into()), "{manner:?}");

            let execution = last_use(&fixture, &decision).await;
            assert_eq!(execution["state"], "unknown");
            ada.reconciles(&fixture.plane, execution["execution_id"].as_str().unwrap(), false).await.unwrap();
            assert_eq!(left().await, ("600.00".into(), 1), "{manner:?}");
            runs(&fixture, "400.00").await;
            let decision = held(&fixture, BankFixture::transfer_of("1.00")).await;
            assert!(difference(&decision, &draft).contains("all 2 uses are claimed"), "{decision}");
        }
    }

    /// R-6
    async fn one_effect_runs_once_however_many_uses_the_plan_has(kit) {
        let fixture = kit.bank_with(|document| document.plans.ask_again_from = AskAgain::Never).await;
        let arguments = json!({ "body": { "payment_id": "p-1" } });
        let draft = PlanDraft::of(json!({ "route": "refunds", "arguments": arguments, "uses": 3 }));
        let decision = fixture.planned(&draft).await;
        let refund = || GatewayRequest::new("POST", "/refunds").json(r#"{"payment_id":"p-1"}"#);
        fixture.sends(refund()).await.expect(201);
        let token = fixture.plane.confirm_token(decision["decision_id"].as_str().unwrap()).await;
        for sent in [refund(), refund().confirmed("true"), refund().confirmed(&token)] {
            assert_eq!(fixture.sends(sent).await.refusal(), (409, "conflict".into()));
        }
        assert_eq!((fixture.bank.effects().len(), fixture.uses_left(&draft, 1).await), (1, 2));
        assert_eq!(fixture.bank.effects()[0].headers["idempotency-key"], "refund:p-1");
    }

    /// R-6
    async fn an_upstream_that_cannot_be_reached_takes_nothing_of_a_plan(kit) {
        let nobody_there = |document: &mut ProjectDocument| {
            payouts(document);
            document.upstreams[0].url = "http://127.0.0.1:1".into();
        };
        let fixture = kit.bank_with(nobody_there).await;
        let draft = a_thousand(2);
        fixture.planned(&draft).await;
        assert_eq!(fixture.sends(BankFixture::transfer_of("400.00")).await.status, 502);
        assert_eq!((sum_left(&fixture, &draft).await.as_str(), fixture.uses_left(&draft, 1).await), ("1000.00", 2));
    }
}
