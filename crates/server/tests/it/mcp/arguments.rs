//! Arguments that violate a tool's schema: refused by name, without another effect.

use super::calling::call_tool;
use countersign_testkit::{
    decisions::{DecisionFixture, confirmation},
    on_sqlite,
};
use serde_json::{Value, json};

fn with(name: &str, value: Value) -> Value {
    let mut question = confirmation("payments.send", json!({ "amount": 82 }));
    question[name] = value;
    question
}

fn without(name: &str) -> Value {
    let mut question = confirmation("payments.send", json!({ "amount": 82 }));
    question.as_object_mut().unwrap().remove(name);
    question
}

on_sqlite! {
    async fn the_member_that_is_wrong_is_named_and_nobody_is_asked(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let decision = json!("dec_00000000000000000000000000000000");
        for (tool, arguments, named) in [
            ("request_confirmation", without("consequence"), "consequence"),
            ("request_confirmation", with("approved", json!(true)), "approved"),
            ("request_confirmation", with("action", json!(5)), "action"),
            ("request_confirmation", with("action", json!("")), "action"),
            ("request_confirmation", with("arguments", json!([1])), "arguments"),
            ("request_confirmation", with("tool", Value::Null), "tool"),
            ("request_confirmation", with("risk_level", json!("none")), "risk_level"),
            ("request_confirmation", with("decision", json!("accept")), "decision"),
            ("await_decision", json!({}), "decision_id"),
            ("await_decision", json!({ "decision_id": 5 }), "decision_id"),
            ("await_decision", json!({ "decision_id": decision, "wait": 5 }), "wait"),
            ("await_decision", json!({ "decision_id": decision, "wait_seconds": 56 }), "wait_seconds"),
            ("await_decision", json!({ "decision_id": decision, "wait_seconds": -1 }), "wait_seconds"),
            ("await_decision", json!({ "decision_id": decision, "wait_seconds": "5" }), "wait_seconds"),
            ("await_decision", json!({ "decision_id": decision, "wait_seconds": 1.5 }), "wait_seconds"),
            ("begin_action", json!({ "decision_id": decision, "force": true }), "force"),
            ("report_outcome", json!({ "decision_id": decision }), "status"),
            ("report_outcome", json!({ "decision_id": decision, "status": "done" }), "status"),
            ("plan_status", json!({ "plan_id": "plan-1" }), "plan_id"),
            ("propose_plan", json!({}), "plan"),
            ("propose_plan", json!({ "plan": {} }), "plan.meta"),
            ("propose_plan", json!({ "approved": true, "plan": {} }), "approved"),
        ] {
            let told = call_tool(&plane, &agent, tool, arguments.clone()).await;
            assert_eq!(told.refusal(), "invalid_request", "{tool} {arguments}");
            let why = told.content["error_description"].as_str().unwrap();
            assert!(why.contains(named), "{named}: {why}");
        }
        assert_eq!(alice.pending_questions(&plane).await, 0);
    }

    ///
    async fn a_throttled_caller_gets_the_time_to_wait(kit) {
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture().await;
        let mut last = None;
        for amount in 0..200 {
            let told = call_tool(&plane, &agent, "request_confirmation", confirmation("payments.send", json!({ "amount": amount }))).await;
            if told.is_error {
                last = Some(told);
                break;
            }
        }
        let told = last.expect("people can be flooded");
        assert_eq!(told.refusal(), "too_many_requests");
        let seconds = told.content["retry_after_seconds"].as_i64().unwrap();
        assert!(seconds > 0 && told.text.contains(&format!("Wait {seconds} s")), "{}", told.text);
    }
}
