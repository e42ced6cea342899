//! A plan without approval lets nothing run, despite its own claims.

use super::{held, runs};
use countersign_engine::NotCounted;
use countersign_testkit::{
    TestAgent,
    bank::{BankFixture, GatewayRequest, PlanDraft, paying, payouts},
    on_both_stores,
};
use http::Method;
use serde_json::{Value, json};

/// A planned call runs neither alone nor with a confirmation header, and the plan's status stays.
async fn nothing_runs(fixture: &BankFixture, draft: &PlanDraft, status: &str) {
    for sent in [BankFixture::transfer_of("100.00"), BankFixture::transfer_of("100.00").confirmed("true")] {
        let decision = held(fixture, sent).await;
        assert!(decision.get("plan_difference").is_none(), "no plan runs: {decision}");
    }
    assert_eq!(fixture.bank.got().len(), 0);
    assert_eq!(fixture.statuses(draft).await, (status.into(), vec!["pending".into()]));
}

/// An agent's decision on the question about its own plan.
async fn agent_says(fixture: &BankFixture, decision: &Value, status: &str) -> countersign_testkit::Answer {
    let path = format!("/mplp/v1/confirms/{}/decisions", decision["confirm_id"].as_str().unwrap());
    fixture.posts(&fixture.agent, &path, &json!({ "status": status })).await
}

/// The status changes of the only plan, from its events.
async fn changes(fixture: &BankFixture) -> Vec<String> {
    let page = fixture.requests(&fixture.agent, Method::GET, "/mplp/v1/events?limit=200").await.expect(200).json();
    let all = page["items"].as_array().unwrap().iter();
    let changed = all.filter(|event| event["event_type"] == "plan_status_changed");
    let text = |event: &Value, name: &str| event["payload"][name].as_str().unwrap().to_owned();
    changed.map(|event| format!("{} to {}", text(event, "from"), text(event, "to"))).collect()
}

on_both_stores! {
    ///
    async fn the_agents_own_word_is_not_enough_for_calls_that_a_plan_leaves_to_its_person(kit) {
        let fixture = kit.bank().await;
        let ping = || GatewayRequest::new("POST", "/pings").json("{}").confirmed("true");
        fixture.sends(ping()).await.expect(201);
        let draft = PlanDraft::of(json!({ "route": "pings", "arguments": { "body": {} } }));
        fixture.proposed(&draft).await;
        held(&fixture, ping()).await;
        assert_eq!(fixture.bank.got().len(), 1, "it ran before it was planned, and not since");
    }

    ///
    async fn a_plan_for_more_calls_than_one_approval_covers_is_refused_before_anybody_is_asked(kit) {
        let fixture = kit.bank_with(payouts).await;
        let refused = fixture.writes(&PlanDraft::of(paying(101))).await;
        assert_eq!(refused.refusal(), (400, "invalid_request".into()));
        assert!(refused.text().contains("1 to 100 calls"), "{}", refused.text());
        let refused = fixture.writes(&PlanDraft::of(paying(60)).runs(paying(41))).await;
        assert_eq!(refused.refusal(), (400, "invalid_request".into()));
        assert!(refused.text().contains("101 calls"), "{}", refused.text());
        assert_eq!(fixture.alice.pending_questions(&fixture.plane).await, 0);
        fixture.proposed(&PlanDraft::of(paying(100))).await;
    }

    /// MPLP-1-02, MPLP-4.3-03, R-14
    async fn a_plan_that_calls_itself_approved_is_a_draft_and_lets_nothing_run(kit) {
        let fixture = kit.bank_with(payouts).await;
        let draft = PlanDraft::of(paying(3));
        let mut submission = draft.submission();
        submission["plan"]["status"] = json!("approved");
        submission["plan"]["steps"][0]["status"] = json!("in_progress");
        fixture.posts(&fixture.agent, "/mplp/v1/plans", &submission).await.expect(201);
        nothing_runs(&fixture, &draft, "draft").await;
    }

    /// MPLP-1-02, MPLP-3.2-01
    async fn a_plan_that_waits_for_its_answer_lets_nothing_run(kit) {
        let fixture = kit.bank_with(payouts).await;
        let draft = PlanDraft::of(paying(3));
        fixture.proposed(&draft).await;
        nothing_runs(&fixture, &draft, "proposed").await;
    }

    /// MPLP-1-02, MPLP-4.3-03, MPLP-4.3-04
    async fn a_rejected_plan_is_a_draft_again_with_the_reason_and_lets_nothing_run(kit) {
        let fixture = kit.bank_with(payouts).await;
        let draft = PlanDraft::of(paying(3));
        let decision = fixture.proposed(&draft).await;
        fixture.alice.rejects(&fixture.plane, &decision, Some("too much at once")).await;
        nothing_runs(&fixture, &draft, "draft").await;
        let path = format!("/mplp/v1/plans/{}/actions", draft.id());
        let actions = fixture.requests(&fixture.agent, Method::GET, &path).await.expect(200).json();
        assert_eq!(actions["feedback"], "too much at once");
        // It is editable, and the new version is asked about anew.
        fixture.writes(&draft).await.expect(200);
        assert_ne!(fixture.proposes(&draft, &json!({})).await, decision);
        nothing_runs(&fixture, &draft, "proposed").await;
    }

    /// MPLP-1-02, MPLP-4.3-03, MPLP-4.3-08
    async fn a_plan_whose_question_is_called_off_by_whomever_is_a_draft_and_lets_nothing_run(kit) {
        for by_agent in [true, false] {
            let fixture = kit.bank_with(payouts).await;
            let draft = PlanDraft::of(paying(3));
            let decision = fixture.proposed(&draft).await;
            match by_agent {
                true => drop(agent_says(&fixture, &decision, "cancelled").await.expect(201)),
                false => fixture.alice.withdraws(&fixture.plane, &decision).await.unwrap(),
            }
            nothing_runs(&fixture, &draft, "draft").await;
            assert_eq!(changes(&fixture).await, ["draft to proposed", "proposed to draft"]);
            let late = fixture.alice.tries(&fixture.plane, &decision, true).await;
            assert_eq!(late, Some(NotCounted::Settled));
            nothing_runs(&fixture, &draft, "draft").await;
        }
    }

    /// MPLP-1-02, MPLP-4.3-10
    async fn a_plan_that_nobody_answered_in_time_is_a_draft_and_lets_nothing_run(kit) {
        let fixture = kit.bank_with(payouts).await;
        let draft = PlanDraft::of(paying(3));
        fixture.writes(&draft).await.expect(201);
        let decision = fixture.proposes(&draft, &json!({ "timeout_seconds": 60 })).await;
        fixture.plane.advance_secs(60).await;
        nothing_runs(&fixture, &draft, "draft").await;
        let confirm = fixture.confirm(&decision).await;
        let decisions = confirm["decisions"].as_array().unwrap();
        assert_eq!((confirm["status"].as_str(), decisions.len()), (Some("cancelled"), 1));
        let told = ["decided_by_role", "status", "reason"].map(|name| decisions[0][name].as_str().unwrap());
        assert_eq!(told, ["system:timeout", "cancelled", "expired"]);
        assert_eq!(fixture.alice.tries(&fixture.plane, &decision, true).await, Some(NotCounted::Settled));
        nothing_runs(&fixture, &draft, "draft").await;
    }

    /// MPLP-1-02, MPLP-4.3-03, R-10
    async fn neither_its_agent_nor_a_person_without_entitlement_approves_a_plan(kit) {
        let fixture = kit.bank_with(payouts).await;
        let bob = fixture.plane.person("bob").await;
        let draft = PlanDraft::of(paying(3));
        let decision = fixture.proposed(&draft).await;
        assert_eq!(agent_says(&fixture, &decision, "approved").await.status, 403);
        assert_eq!(bob.tries(&fixture.plane, &decision, true).await, Some(NotCounted::NotEntitled));
        nothing_runs(&fixture, &draft, "proposed").await;
    }

    /// MPLP-4.3-03
    async fn an_approval_of_one_plan_is_none_of_another(kit) {
        let fixture = kit.bank_with(payouts).await;
        let draft = PlanDraft::of(paying(3));
        fixture.proposed(&draft).await;
        let mut others = paying(3);
        others["arguments"]["body"]["to"] = json!("others");
        let other = PlanDraft::of(others);
        fixture.planned(&other).await;
        let decision = held(&fixture, BankFixture::transfer_of("100.00")).await;
        assert_eq!(decision["plan_difference"]["plan_id"], other.id());
        assert_eq!(fixture.bank.got().len(), 0);
        assert_eq!(fixture.statuses(&draft).await.0, "proposed");
        assert_eq!(fixture.statuses(&other).await.0, "approved");
    }

    /// MPLP-3.2-02, MPLP-4.3-03
    async fn an_approved_plan_stays_approved_after_later_decisions(kit) {
        let fixture = kit.bank_with(payouts).await;
        let draft = PlanDraft::of(paying(3));
        let decision = fixture.planned(&draft).await;
        let approved = fixture.confirm(&decision).await;
        assert_eq!(approved["status"], "approved");
        assert_eq!(fixture.statuses(&draft).await.0, "approved");
        let subscriber = fixture.alice.subscriber(&fixture.plane).await;
        let device = TestAgent { token: subscriber.token, principal: subscriber.token_id };
        let path = format!("/mplp/v1/confirms/{}/decisions", decision["confirm_id"].as_str().unwrap());
        for status in ["rejected", "cancelled", "approved"] {
            device.post(&fixture.plane, &path, &json!({ "status": status })).await.expect(409);
        }
        assert_eq!(agent_says(&fixture, &decision, "cancelled").await.status, 409);
        assert_eq!(fixture.confirm(&decision).await, approved);
        runs(&fixture, "100.00").await;
        assert_eq!(fixture.bank.effects().len(), 1);
    }
}
