//! The whole round: ask, wait, claim, execute, report; and every input that is no approval.

use super::calling::{call_tool, request, result, send};
use countersign_testkit::{
    Plane, TestAgent,
    decisions::{DecisionFixture, confirmation},
    on_both_stores,
};
use serde_json::{Value, json};

async fn asks(plane: &Plane, agent: &TestAgent, amount: i64) -> Value {
    let question = confirmation("payments.send", json!({ "amount": amount }));
    call_tool(plane, agent, "request_confirmation", question).await.given()
}

async fn looks(plane: &Plane, agent: &TestAgent, asked: &Value) -> Value {
    let look = json!({ "decision_id": asked["decision_id"], "wait_seconds": 0 });
    call_tool(plane, agent, "await_decision", look).await.given()
}

fn begin(asked: &Value, amount: i64) -> Value {
    json!({ "decision_id": asked["decision_id"], "tool": "payments.send", "arguments": { "amount": amount } })
}

fn says(answer: &Value, words: &str) {
    let next = answer["next"].as_str().unwrap();
    assert!(next.contains(words), "{words:?} is not in {next:?}");
}

on_both_stores! {
    async fn an_unaccepted_action_cannot_be_begun_and_next_names_the_next_call(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let asked = asks(&plane, &agent, 82).await;
        says(&asked, "do not do it");
        assert_eq!(call_tool(&plane, &agent, "begin_action", begin(&asked, 82)).await.refusal(), "conflict");
        alice.rejects(&plane, &asked, Some("far too much")).await;
        let told = looks(&plane, &agent, &asked).await;
        assert_eq!((&told["state"], &told["reason"]), (&json!("rejected"), &json!("far too much")));
        says(&told, "do not do it");
        assert_eq!(call_tool(&plane, &agent, "begin_action", begin(&asked, 82)).await.refusal(), "conflict");

        let asked = asks(&plane, &agent, 83).await;
        plane.advance_secs(3600).await;
        let told = looks(&plane, &agent, &asked).await;
        assert_eq!(told["state"], "expired");
        says(&told, "that is no approval");
        let asked = asks(&plane, &agent, 84).await;
        agent.withdraws(&plane, &asked, &json!({})).await.expect(200);
        says(&looks(&plane, &agent, &asked).await, "cancelled");
    }

    ///
    async fn nothing_that_an_agents_client_sends_is_a_decision(kit) {
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture().await;
        let asked = asks(&plane, &agent, 82).await;
        let yes = json!({ "action": "accept", "content": { "decision": "accept" } });
        let call = json!({
            "name": "await_decision",
            "arguments": { "decision_id": asked["decision_id"], "wait_seconds": 0 },
            "inputResponses": { "confirm": yes },
            "requestState": "accepted",
        });
        let told = result(&send(&plane, &agent, &request("tools/call", call)).await);
        assert_eq!(told["structuredContent"]["state"], "pending", "{told}");
        let answered = json!({ "jsonrpc": "2.0", "id": 7, "result": yes });
        let _whatever = send(&plane, &agent, &answered).await;
        let elicited = send(&plane, &agent, &request("elicitation/create", yes)).await;
        assert!(elicited.json().get("result").is_none(), "{}", elicited.text());
        assert_eq!(looks(&plane, &agent, &asked).await["state"], "pending");
    }

    async fn an_agent_asks_waits_begins_does_and_reports(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let asked = asks(&plane, &agent, 82).await;
        assert_eq!((&asked["state"], &asked["kind"]), (&json!("pending"), &json!("confirmation")));
        let page = format!("https://api.example.test/inbox/calendar/{}", asked["decision_id"].as_str().unwrap());
        assert_eq!(asked["page"], page);
        says(&asked, &page);
        says(&asked, "await_decision");
        assert_eq!(asks(&plane, &agent, 82).await["decision_id"], asked["decision_id"], "nobody is asked twice");
        assert_eq!(alice.pending_questions(&plane).await, 1);

        alice.accepts(&plane, &asked).await;
        let told = call_tool(&plane, &agent, "await_decision", json!({ "decision_id": asked["decision_id"] })).await.given();
        assert_eq!(told["state"], "accepted");
        says(&told, "begin_action");
        assert_eq!(told, {
            let mut same = agent.reads_decision(&plane, &asked).await.expect(200).json();
            same["next"] = told["next"].clone();
            same
        }, "the document of /v1");

        for wrong in [begin(&asked, 820), json!({ "decision_id": asked["decision_id"], "tool": "mail.send" })] {
            let refusal = call_tool(&plane, &agent, "begin_action", wrong).await.refusal();
            assert_eq!(refusal, "confirmation_invalid", "a yes to one thing is for no other");
        }
        let begun = call_tool(&plane, &agent, "begin_action", begin(&asked, 82)).await.given();
        assert_eq!(begun["execution"]["state"], "claimed");
        let execution = begun["execution"]["execution_id"].as_str().unwrap();
        says(&begun, execution);
        says(&begun, "report_outcome");
        assert_eq!(call_tool(&plane, &agent, "begin_action", begin(&asked, 82)).await.refusal(), "conflict", "once");

        let report = |status: &str| json!({ "decision_id": asked["decision_id"], "execution_id": execution, "status": status });
        let running = call_tool(&plane, &agent, "report_outcome", report("running")).await.given();
        assert_eq!(running["execution"]["state"], "claimed");
        let done = call_tool(&plane, &agent, "report_outcome", report("committed")).await.given();
        assert_eq!(done["execution"]["state"], "committed");
        says(&done, "permits nothing more");
        assert_eq!(call_tool(&plane, &agent, "report_outcome", report("failed")).await.refusal(), "conflict");
    }

    async fn a_question_without_a_tool_is_begun_by_its_digest_and_its_failure_has_words(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture_with(countersign_testkit::Setup::payments()).await;
        let question = json!({ "action": "Call the bank", "consequence": "They know." });
        let told = call_tool(&plane, &agent, "request_confirmation", question).await;
        if told.is_error {
            // A key that lists its actions may ask for these only.
            assert_eq!(told.refusal(), "not_authorized");
            return;
        }
        let asked = told.given();
        alice.accepts(&plane, &asked).await;
        let begun = json!({ "decision_id": asked["decision_id"], "digest": asked["digest"] });
        call_tool(&plane, &agent, "begin_action", begun).await.given();
        let report = json!({ "decision_id": asked["decision_id"], "status": "failed", "error_message": "no line" });
        let done = call_tool(&plane, &agent, "report_outcome", report).await.given();
        assert_eq!(done["execution"]["state"], "failed");
    }

    ///
    async fn an_unreported_outcome_is_unknown_and_the_call_not_repeated(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let asked = asks(&plane, &agent, 82).await;
        alice.accepts(&plane, &asked).await;
        call_tool(&plane, &agent, "begin_action", begin(&asked, 82)).await.given();
        plane.advance_secs(24 * 3600).await;
        let told = looks(&plane, &agent, &asked).await;
        assert_eq!(told["execution"]["state"], "unknown");
        says(&told, "do not do it again");
        let again = confirmation("payments.send", json!({ "amount": 82 }));
        assert_eq!(call_tool(&plane, &agent, "request_confirmation", again).await.refusal(), "conflict");
    }
}
