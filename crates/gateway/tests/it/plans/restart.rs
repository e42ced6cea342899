//! The remainder of an approval is in the store, and nowhere else.

use super::{held, runs};
use countersign_testkit::{
    bank::{BankFixture, Manner, PlanDraft, paying_within, payouts},
    on_both_stores,
};
use serde_json::json;

on_both_stores! {
    ///
    async fn counts_and_sums_survive_a_restart(kit) {
        let (fixture, _folder) = BankFixture::lasting(kit, payouts).await;
        let draft = PlanDraft::of(paying_within(json!({ "most": "400.00", "sum": "1000.00" }), 4)).agent_step("Write the report");
        fixture.planned(&draft).await;
        runs(&fixture, "400.00").await;
        fixture.bank.set_manner(Manner::Vanishing);
        assert_eq!(fixture.sends(BankFixture::transfer_of("300.00")).await.status, 502);
        fixture.bank.set_manner(Manner::Obliging);
        let before = (fixture.step(&draft, 1).await, fixture.statuses(&draft).await);

        let fixture = fixture.restarted().await;
        assert_eq!((fixture.step(&draft, 1).await, fixture.statuses(&draft).await), before);
        held(&fixture, BankFixture::transfer_of("300.01")).await;
        assert_eq!(fixture.sends(BankFixture::transfer_of("300.00")).await.refusal(), (409, "conflict".into()));
        runs(&fixture, "299.99").await;

        let fixture = fixture.restarted().await;
        runs(&fixture, "0.01").await;
        held(&fixture, BankFixture::transfer_of("0.01")).await;
        assert_eq!(fixture.bank.effects().len(), 4);
    }

    ///
    async fn a_plan_that_fell_due_while_nothing_was_running_lets_nothing_run(kit) {
        let (fixture, _folder) = BankFixture::lasting(kit, payouts).await;
        let draft = PlanDraft::of(paying_within(json!({ "most": "400.00" }), 4)).lasting(600);
        fixture.planned(&draft).await;
        runs(&fixture, "1.00").await;
        fixture.plane.advance_without_settling(600).await;
        let fixture = fixture.restarted().await;
        held(&fixture, BankFixture::transfer_of("2.00")).await;
        fixture.plane.advance_secs(0).await;
        assert_eq!(fixture.statuses(&draft).await, ("failed".into(), vec!["failed".into()]));
        assert_eq!(fixture.bank.effects().len(), 1);
    }
}
