//! Plans of an agent without a gateway in front of its tools: approved calls are claimed one by one, and the agent's own
//! report gives nothing back (R-2, R-6).

use super::runs;
use countersign_engine::NotCounted;
use countersign_protocol::aaep::event::Risk;
use countersign_testkit::{
    Answer, Kit, Plane, Setup, TestAgent, TestPerson,
    bank::{self, PlanDraft},
    decisions::confirmation,
    on_both_stores,
};
use serde_json::{Value, json};

/// An agent with a key of alice's, and tools of medium risk.
struct Desk {
    plane: Plane,
    alice: TestPerson,
    agent: TestAgent,
}

impl Desk {
    async fn set(kit: Kit) -> Self {
        let policies =
            json!([{ "name": "payouts.send", "risk": "medium" }, { "name": "payouts.stop", "risk": "medium" }]);
        let setup = Setup::payments_with(|document| document.actions = serde_json::from_value(policies).unwrap());
        let plane = kit.plane_with(setup).await;
        let alice = plane.person("alice").await;
        let agent = plane.agent_key("alice", &["payouts.send", "payouts.stop"]).await;
        Self { plane, alice, agent }
    }

    async fn proposed(&self, draft: &PlanDraft) -> Value {
        self.agent.post(&self.plane, "/mplp/v1/plans", &draft.submission()).await.expect(201);
        let path = format!("/mplp/v1/plans/{}/propose", draft.id());
        let proposed = self.agent.post(&self.plane, &path, &json!({})).await.expect(201);
        json!({ "decision_id": proposed.header("countersign-decision").unwrap() })
    }

    async fn planned(&self, draft: &PlanDraft) -> Value {
        let decision = self.proposed(draft).await;
        self.alice.accepts(&self.plane, &decision).await;
        decision
    }

    async fn claims(&self, decision: &Value, arguments: Value) -> Answer {
        let body = json!({ "tool": "payouts.send", "arguments": arguments });
        self.agent.claims(&self.plane, decision, &body).await
    }

    /// Claims a covered call; returns the execution.
    async fn claimed(&self, decision: &Value, arguments: Value) -> Value {
        let execution = self.claims(decision, arguments).await.expect(200).json()["execution"].clone();
        assert_eq!(execution["state"], "claimed");
        execution
    }

    async fn requests_approval(&self, arguments: Value) -> Answer {
        self.agent.requests_confirmation(&self.plane, &confirmation("payouts.send", arguments)).await
    }

    async fn reports(&self, decision: &Value, execution: &Value, status: &str) -> Answer {
        let path = format!("/v1/decisions/{}/outcome", decision["decision_id"].as_str().unwrap());
        let body = json!({ "status": status, "execution_id": execution["execution_id"] });
        self.agent.post(&self.plane, &path, &body).await
    }

    /// The action of a step, and its remainder.
    async fn runs(&self, draft: &PlanDraft) -> Value {
        let path = format!("/mplp/v1/plans/{}/actions", draft.id());
        let actions = self.agent.send(&self.plane.public, http::Method::GET, &path, None).await.expect(200).json();
        actions["steps"][0].clone()
    }
}

/// At most 500 euro each, 1000 altogether.
fn paying(uses: u64) -> PlanDraft {
    let bound = json!({ "most": "500.00", "sum": "1000.00", "unit_from": "currency" });
    PlanDraft::of(json!({
        "tool": "payouts.send",
        "arguments": pay("100.00"),
        "released": { "amount": bound },
        "uses": uses,
    }))
}

fn pay(amount: &str) -> Value {
    json!({ "to": "theirs", "amount": amount, "currency": "EUR" })
}

on_both_stores! {
    /// MPLP-1-02, MPLP-3.2-01, MPLP-4.3-04
    async fn of_a_plan_that_is_not_approved_nothing_can_be_claimed(kit) {
        let desk = Desk::set(kit).await;
        let draft = paying(3);
        let decision = desk.proposed(&draft).await;
        assert!(!desk.claims(&decision, pay("100.00")).await.is_success());
        let asked = desk.requests_approval(pay("100.00")).await.expect(201).json();
        assert_eq!(asked["state"], "pending");
        desk.alice.rejects(&desk.plane, &decision, Some("no")).await;
        assert!(!desk.claims(&decision, pay("100.00")).await.is_success());
        assert_eq!(desk.requests_approval(pay("100.00")).await.json()["decision_id"], asked["decision_id"]);
        assert_eq!(desk.runs(&draft).await["status"], "pending");
    }

    /// R-7
    async fn a_claim_of_something_else_is_refused_with_the_difference(kit) {
        let desk = Desk::set(kit).await;
        let draft = paying(3);
        let decision = desk.planned(&draft).await;
        let other = |name: &str, value: &str| {
            let mut arguments = pay("100.00");
            arguments[name] = json!(value);
            arguments
        };
        for (arguments, told) in [
            (pay("500.01"), "amount is 500.01 EUR, at most 500.00 EUR"),
            (other("to", "others"), r#"to is "others" instead of "theirs""#),
            (other("note", "hello"), "note is not in the plan"),
            (other("currency", "USD"), r#"currency is "USD" instead of "EUR""#),
            (json!({ "to": "theirs", "amount": "100.00" }), "currency is missing"),
            (json!({ "to": "theirs", "amount": 100, "currency": "EUR" }), "amount is 100 EUR"),
        ] {
            let refused = desk.claims(&decision, arguments.clone()).await;
            assert_eq!(refused.code(), "confirmation_invalid", "{arguments}: {}", refused.text());
            assert!(refused.text().replace('\\', "").contains(told), "{arguments}: {}", refused.text());
        }
        let tool = json!({ "tool": "payouts.stop", "arguments": pay("100.00") });
        assert!(!desk.agent.claims(&desk.plane, &decision, &tool).await.is_success());
        let digest = desk.agent.reads_decision(&desk.plane, &decision).await.json()["digest"].clone();
        let unsaid = desk.agent.claims(&desk.plane, &decision, &json!({ "digest": digest })).await;
        assert_eq!(unsaid.refusal(), (400, "invalid_request".into()), "what is about to run must be said");
        assert_eq!(desk.runs(&draft).await["runs"]["left"]["uses"], 3);
    }

    /// R-7
    async fn a_call_within_a_plan_is_answered_at_once_and_another_is_held(kit) {
        let desk = Desk::set(kit).await;
        let decision = desk.planned(&paying(2)).await;
        assert_eq!(desk.requests_approval(pay("500.01")).await.expect(201).json()["state"], "pending");
        assert_eq!(desk.alice.pending_questions(&desk.plane).await, 1);
        for amount in ["100.00", "200.00"] {
            let covered = desk.requests_approval(pay(amount)).await.expect(200).json();
            assert_eq!((&covered["state"], &covered["decision_id"]), (&json!("accepted"), &decision["decision_id"]));
            desk.claimed(&covered, pay(amount)).await;
        }
        assert_eq!(desk.alice.pending_questions(&desk.plane).await, 1);
        assert_eq!(desk.requests_approval(pay("300.00")).await.expect(201).json()["state"], "pending");
        assert!(!desk.claims(&decision, pay("300.00")).await.is_success());
        assert_eq!(desk.alice.pending_questions(&desk.plane).await, 2);
    }

    /// R-5, R-7
    async fn the_rest_of_a_plan_by_old_rules_is_not_claimed_and_prevents_no_question(kit) {
        let desk = Desk::set(kit).await;
        let decision = desk.planned(&paying(2)).await;
        let mut document = (*desk.plane.at().await.project.document).clone();
        document.actions[0].risk = Risk::Low;
        desk.plane.engine.apply_project(document, "test").await.expect("a sound document");
        assert!(!desk.claims(&decision, pay("100.00")).await.is_success());
        let asked = desk.requests_approval(pay("100.00")).await.expect(201).json();
        assert_eq!(asked["state"], "pending");
        desk.alice.accepts(&desk.plane, &asked).await;
        desk.claimed(&asked, pay("100.00")).await;
    }

    /// R-7, R-10
    async fn another_key_of_the_same_person_is_not_covered(kit) {
        let desk = Desk::set(kit).await;
        let draft = paying(2);
        let decision = desk.planned(&draft).await;
        let other = desk.plane.agent_key("alice", &["payouts.send"]).await;
        let asked = other.requests_confirmation(&desk.plane, &confirmation("payouts.send", pay("100.00"))).await.expect(201).json();
        assert_eq!(asked["state"], "pending");
        let body = json!({ "tool": "payouts.send", "arguments": pay("100.00") });
        assert_eq!(other.claims(&desk.plane, &decision, &body).await.status, 404);
        assert_eq!(desk.runs(&draft).await["runs"]["left"]["uses"], 2);
    }

    /// R-7
    async fn a_standing_approval_of_a_tool_is_claimed_as_often_as_it_says(kit) {
        let desk = Desk::set(kit).await;
        let asked = desk.requests_approval(pay("100.00")).await.expect(201).json();
        let released = |bound: Value| json!({ "uses": 2, "released": { "amount": bound } });
        let in_dollars = released(json!({ "most": "500.00", "unit": "USD", "unit_from": "currency" }));
        let counted = desk.alice.accepts_within(&desk.plane, &asked, in_dollars).await;
        assert!(matches!(counted, Err(NotCounted::OutOfBounds(_))), "{counted:?}");
        let bound = json!({ "most": "500.00", "sum": "600.00", "unit_from": "currency" });
        desk.alice.accepts_within(&desk.plane, &asked, released(bound)).await.unwrap();
        desk.claimed(&asked, pay("500.00")).await;
        assert!(!desk.claims(&asked, pay("100.01")).await.is_success());
        desk.claimed(&asked, pay("100.00")).await;
        assert!(!desk.claims(&asked, pay("0.01")).await.is_success());
        assert_eq!(desk.requests_approval(pay("0.01")).await.expect(201).json()["state"], "pending");
    }

    /// R-6, R-7
    async fn a_failure_that_only_the_agent_saw_gives_neither_count_nor_sum_back(kit) {
        let desk = Desk::set(kit).await;
        let draft = paying(2);
        let decision = desk.planned(&draft).await;
        let first = desk.claimed(&decision, pay("500.00")).await;
        desk.reports(&decision, &first, "failed").await.expect(200);
        let left = desk.runs(&draft).await["runs"]["left"].clone();
        assert_eq!((&left["uses"], &left["sums"][0]["left"]), (&json!(1), &json!("500.00")));
        let second = desk.claimed(&decision, pay("500.00")).await;
        desk.reports(&decision, &second, "committed").await.expect(200);
        assert!(!desk.claims(&decision, pay("1.00")).await.is_success());
        assert_eq!(desk.runs(&draft).await["status"], "failed", "one of its two calls was not done");
    }

    /// R-6
    async fn of_several_calls_under_way_the_report_names_one(kit) {
        let desk = Desk::set(kit).await;
        let draft = paying(3);
        let decision = desk.planned(&draft).await;
        let first = desk.claimed(&decision, pay("100.00")).await;
        let second = desk.claimed(&decision, pay("200.00")).await;
        assert_ne!(first["execution_id"], second["execution_id"]);
        let unnamed = desk.agent.reports(&desk.plane, &decision, "committed").await;
        assert_eq!(unnamed.refusal(), (400, "invalid_request".into()));
        let made_up = json!({ "execution_id": "exe_00000000000000000000000000000000" });
        assert_eq!(desk.reports(&decision, &made_up, "committed").await.status, 404);
        assert_eq!(desk.runs(&draft).await["runs"]["under_way"], 2);
        desk.reports(&decision, &first, "committed").await.expect(200);
        let runs = desk.runs(&draft).await["runs"].clone();
        assert_eq!((&runs["done"], &runs["under_way"]), (&json!(1), &json!(1)));
        // Only one is left, so it need not be named.
        desk.agent.reports(&desk.plane, &decision, "committed").await.expect(200);
        assert_eq!(desk.runs(&draft).await["runs"]["done"], 2);
    }

    /// R-6
    async fn exactly_the_same_call_is_not_claimed_while_it_is_under_way_or_may_have_run(kit) {
        let desk = Desk::set(kit).await;
        let draft = paying(3);
        let decision = desk.planned(&draft).await;
        let first = desk.claimed(&decision, pay("100.00")).await;
        assert_eq!(desk.claims(&decision, pay("100.00")).await.refusal(), (409, "conflict".into()));
        desk.plane.advance_secs(60).await;
        assert_eq!(desk.claims(&decision, pay("100.00")).await.refusal(), (409, "conflict".into()));
        assert_eq!(desk.runs(&draft).await["runs"]["left"]["uses"], 2, "what nobody knows of is not given back");
        desk.reports(&decision, &first, "committed").await.expect(200);
        desk.claimed(&decision, pay("100.00")).await;
        assert_eq!(desk.runs(&draft).await["runs"]["left"]["uses"], 1);
    }

    /// R-2, R-6
    async fn what_the_gateway_runs_is_neither_claimed_nor_reported_by_the_agent(kit) {
        let fixture = kit.bank_with(bank::payouts).await;
        let draft = PlanDraft::of(bank::paying(3));
        let decision = fixture.planned(&draft).await;
        let path = format!("/v1/decisions/{}", decision["decision_id"].as_str().unwrap());
        let arguments = json!({ "from": "ours", "to": "theirs", "amount": "100.00", "currency": "USD" });
        for (tool, arguments) in [("transfers.send", arguments.clone()), ("transfers", json!({ "body": arguments }))] {
            let body = json!({ "tool": tool, "arguments": arguments });
            assert!(!fixture.posts(&fixture.agent, &format!("{path}/claim"), &body).await.is_success());
        }
        assert_eq!(fixture.uses_left(&draft, 1).await, 3);
        runs(&fixture, "100.00").await;
        for status in ["failed", "committed", "running"] {
            let said = fixture.posts(&fixture.agent, &format!("{path}/outcome"), &json!({ "status": status })).await;
            assert_eq!(said.code(), "confirmation_invalid", "{}", said.text());
        }
        assert_eq!(fixture.uses_left(&draft, 1).await, 2);
        assert_eq!(fixture.bank.effects().len(), 1);
    }
}
