//! Outcomes of claimed calls, as the agent reports them; its report gives nothing back.

use super::{
    runs,
    tools::{Desk, pay, paying},
};
use countersign_testkit::{
    bank::{PlanDraft, payouts},
    on_both_stores,
};
use serde_json::{Value, json};

impl Desk {
    async fn reports(&self, decision: &Value, execution: &Value, status: &str) -> countersign_testkit::Answer {
        let path = format!("/v1/decisions/{}/outcome", decision["decision_id"].as_str().unwrap());
        let body = json!({ "status": status, "execution_id": execution["execution_id"] });
        self.agent.post(&self.plane, &path, &body).await
    }
}

on_both_stores! {
    ///
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

    ///
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

    ///
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

    ///
    async fn a_gateway_step_is_neither_claimed_nor_reported_by_the_agent(kit) {
        let scene = kit.bank_with(payouts).await;
        let draft = PlanDraft::of(countersign_testkit::bank::paying(3));
        let decision = scene.planned(&draft).await;
        let path = format!("/v1/decisions/{}", decision["decision_id"].as_str().unwrap());
        let arguments = json!({ "from": "ours", "to": "theirs", "amount": "100.00", "currency": "USD" });
        for (tool, arguments) in [("transfers.send", arguments.clone()), ("transfers", json!({ "body": arguments }))] {
            let body = json!({ "tool": tool, "arguments": arguments });
            assert!(!scene.posts(&scene.agent, &format!("{path}/claim"), &body).await.is_success());
        }
        assert_eq!(scene.uses_left(&draft, 1).await, 3);
        runs(&scene, "100.00").await;
        for status in ["failed", "committed", "running"] {
            let said = scene.posts(&scene.agent, &format!("{path}/outcome"), &json!({ "status": status })).await;
            assert_eq!(said.code(), "confirmation_invalid", "{}", said.text());
        }
        assert_eq!(scene.uses_left(&draft, 1).await, 2);
        assert_eq!(scene.bank.effects().len(), 1);
    }
}
