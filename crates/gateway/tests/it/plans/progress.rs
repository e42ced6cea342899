//! A plan and its steps follow their calls, and the evidence names the approval of each.

use super::{held, last_use, runs, statuses};
use countersign_engine::Role;
use countersign_testkit::{
    Plane,
    bank::{BankFixture, Manner, PlanDraft, paying, paying_exactly, payouts},
    on_both_stores, stored_evidence,
};
use serde_json::{Value, json};

/// The leaves of all entries of one type.
async fn entries(plane: &Plane, event_type: &str) -> Vec<Value> {
    let all = stored_evidence(&plane.place).await.into_iter().filter(|entry| entry.event_type == event_type);
    all.map(|entry| serde_json::from_slice(&entry.leaf).expect("a leaf of JSON")).collect()
}

/// Whether an entry names this step, and the decision that allowed it.
fn names(entry: &Value, step: &str, decision: &Value) -> bool {
    let text = entry.to_string();
    text.contains(step) && text.contains(decision["decision_id"].as_str().unwrap())
}

on_both_stores! {
    ///
    async fn a_steps_action_is_shown_in_the_owners_words_despite_its_agents_title(kit) {
        let fixture = kit.bank_with(payouts).await;
        let draft = PlanDraft::default().agent_step("Nothing to see here").runs(paying(3));
        fixture.planned(&draft).await;
        let runs = fixture.step(&draft, 2).await["runs"].clone();
        assert_eq!(runs["words"], "owner");
        assert_eq!(runs["shown"], "Transfer at most 500.00 USD to “theirs”");
        assert!(fixture.step(&draft, 1).await.get("runs").is_none());
    }

    ///
    async fn an_agent_cannot_report_false_progress_of_a_gateway_step(kit) {
        let fixture = kit.bank_with(payouts).await;
        let draft = PlanDraft::of(paying_exactly("1.00")).then_runs(paying_exactly("2.00"));
        fixture.planned(&draft).await;
        let path = format!("/mplp/v1/plans/{}/steps/{}", draft.id(), draft.step(1));
        for status in ["completed", "failed"] {
            let said = fixture.posts(&fixture.agent, &path, &json!({ "status": status })).await;
            assert_eq!(said.status, 409, "{}", said.text());
        }
        held(&fixture, BankFixture::transfer_of("2.00")).await;
        assert_eq!(fixture.bank.got().len(), 0);
    }

    ///
    async fn a_step_after_one_of_the_agents_own_waits_until_that_is_reported(kit) {
        let fixture = kit.bank_with(payouts).await;
        let draft = PlanDraft::default().agent_step("Check the invoices").then_runs(paying_exactly("1.00"));
        let path = format!("/mplp/v1/plans/{}/steps/{}", draft.id(), draft.step(1));
        let reports = async |status: &str| fixture.posts(&fixture.agent, &path, &json!({ "status": status })).await;
        let decision = fixture.proposed(&draft).await;
        assert_eq!(reports("in_progress").await.status, 409, "nobody has approved it");
        fixture.alice.accepts(&fixture.plane, &decision).await;
        held(&fixture, BankFixture::transfer_of("1.00")).await;
        reports("in_progress").await.expect(200);
        held(&fixture, BankFixture::transfer_of("1.00")).await;
        assert_eq!(fixture.bank.got().len(), 0);
        reports("completed").await.expect(200);
        runs(&fixture, "1.00").await;
        assert_eq!(fixture.statuses(&draft).await, statuses("completed", &["completed", "completed"]));
    }

    ///
    async fn statuses_follow_the_calls_to_the_end(kit) {
        let fixture = kit.bank_with(payouts).await;
        let draft = PlanDraft::of(paying(2)).agent_step("Write the report");
        assert_eq!(fixture.writes(&draft).await.expect(201).json()["status"], "draft");
        let decision = fixture.proposes(&draft, &json!({})).await;
        assert_eq!(fixture.statuses(&draft).await, statuses("proposed", &["pending", "pending"]));
        fixture.alice.accepts(&fixture.plane, &decision).await;
        assert_eq!(fixture.statuses(&draft).await, statuses("approved", &["pending", "pending"]));
        runs(&fixture, "1.00").await;
        assert_eq!(fixture.statuses(&draft).await, statuses("in_progress", &["in_progress", "pending"]));
        runs(&fixture, "2.00").await;
        assert_eq!(fixture.statuses(&draft).await, statuses("in_progress", &["completed", "pending"]));
        let path = format!("/mplp/v1/plans/{}/steps/{}", draft.id(), draft.step(2));
        for status in ["in_progress", "completed"] {
            fixture.posts(&fixture.agent, &path, &json!({ "status": status })).await.expect(200);
        }
        assert_eq!(fixture.statuses(&draft).await, statuses("completed", &["completed", "completed"]));
    }

    ///
    async fn the_evidence_names_step_and_decision_of_every_call(kit) {
        let (fixture, _folder) = BankFixture::lasting(kit, payouts).await;
        let ada = fixture.plane.person_in("bank", "ada", &[Role::Admin]).await;
        let draft = PlanDraft::of(paying(3));
        let decision = fixture.planned(&draft).await;
        runs(&fixture, "1.00").await;
        fixture.bank.set_manner(Manner::Status(422));
        fixture.sends(BankFixture::transfer_of("2.00")).await.expect(422);
        fixture.bank.set_manner(Manner::Vanishing);
        assert_eq!(fixture.sends(BankFixture::transfer_of("3.00")).await.status, 502);
        let execution = last_use(&fixture, &decision).await["execution_id"].as_str().unwrap().to_owned();
        ada.reconciles(&fixture.plane, &execution, true).await.unwrap();
        for (event_type, count) in [("execution_claimed", 3), ("execution_settled", 3), ("execution_unknown", 1)] {
            let found = entries(&fixture.plane, event_type).await;
            assert_eq!(found.len(), count, "{event_type}");
            assert!(found.iter().all(|entry| names(entry, &draft.step(1), &decision)), "{event_type}: {found:#?}");
        }
        let calls = fixture.calls().await;
        assert_eq!(calls.len(), 3);
        assert!(calls.iter().all(|call| call["decision_id"] == decision["decision_id"]), "{calls:#?}");
        let changed = entries(&fixture.plane, "plan_changed").await;
        assert!(changed.iter().all(|entry| entry.to_string().contains(&draft.id())), "{changed:#?}");
    }
}
