//! `await_decision`: woken at once, never silent for longer than announced, and ended with the waiter's credential.

use super::calling::{PATH, Told, request, result, send_at, told};
use countersign_server::Limits;
use countersign_testkit::{Answer, Plane, Setup, TestAgent, decisions::DecisionFixture, on_sqlite};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::task::JoinHandle;

/// Far below the longest wait, and below the interval after which a waiter polls by itself.
const AT_ONCE: Duration = Duration::from_secs(4);

fn wait_for(asked: &Value, seconds: u32) -> Value {
    let arguments = json!({ "decision_id": asked["decision_id"], "wait_seconds": seconds });
    request("tools/call", json!({ "name": "await_decision", "arguments": arguments }))
}

/// A wait in progress; other requests have completed since it began.
async fn waiting(plane: &Plane, agent: &TestAgent, asked: &Value) -> JoinHandle<Answer> {
    let (node, whose, message) = (plane.public.clone(), agent.clone(), wait_for(asked, 55));
    let wait = tokio::spawn(async move { send_at(&node, PATH, &whose, &message).await });
    for _ in 0..20 {
        assert_eq!(agent.reads_decision(plane, asked).await.expect(200).json()["state"], "pending");
    }
    assert!(!wait.is_finished(), "it did not wait");
    wait
}

async fn woken(wait: JoinHandle<Answer>) -> Told {
    let answer = tokio::time::timeout(AT_ONCE, wait).await.expect("nobody woke it").unwrap();
    told(&result(&answer))
}

on_sqlite! {
    async fn a_waiter_gets_the_settlement_at_once(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let asked = agent.requests_approval(&plane, "payments.send", json!({ "amount": 82 })).await;
        let wait = waiting(&plane, &agent, &asked).await;
        alice.accepts(&plane, &asked).await;
        assert_eq!(woken(wait).await.given()["state"], "accepted");
    }

    async fn a_fruitless_wait_ends_on_time_and_names_the_next_call(kit) {
        let limits = Limits { request: Duration::from_millis(200), ..Limits::default() };
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture_with(Setup { limits, ..Setup::payments() }).await;
        let asked = agent.requests_approval(&plane, "payments.send", json!({ "amount": 82 })).await;
        let message = wait_for(&asked, 1);
        let mut wait = std::pin::pin!(send_at(&plane.public, PATH, &agent, &message));
        let early = tokio::time::timeout(Duration::from_millis(900), &mut wait).await;
        assert!(early.is_err(), "it did not wait");
        let answer = tokio::time::timeout(AT_ONCE, wait).await.expect("it waits for longer than it said");
        let told = told(&result(&answer)).given();
        assert_eq!(told["state"], "pending");
        let next = told["next"].as_str().unwrap();
        assert!(next.contains("await_decision") && next.contains(asked["page"].as_str().unwrap()), "{next}");
    }
}
