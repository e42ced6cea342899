//! An approval revoked at one node cannot be claimed at the other, from the next moment on.

use super::{Two, path, woken};
use countersign_testkit::{Backend, Kit, Setup, decisions::confirmation};
use http::Method;
use serde_json::json;

///
#[tokio::test]
async fn an_approval_under_a_delegation_revoked_at_one_node_cannot_be_claimed_at_the_other() {
    let scene = Kit(Backend::Postgres).fixture_with(Setup::payments(), &["calendar.read"]).await;
    let (_engine, second) = scene.plane.second_node().await;
    let agent = scene.agent.as_test_agent();
    let asked = agent.requests_approval(&scene.plane, "payments.send", json!({ "amount": 82 })).await;
    scene.alice.accepts(&scene.plane, &asked).await;
    scene.revoke().await.expect(200);
    let body = json!({ "digest": asked["digest"] }).to_string();
    let claimed = agent.send(&second, Method::POST, &path(&asked, "/claim"), Some(body)).await;
    assert!(matches!(claimed.status, 401 | 403 | 409), "{}", claimed.text());
    let again = confirmation("payments.send", json!({ "amount": 1 })).to_string();
    let raised = agent.send(&second, Method::POST, "/v1/confirmations", Some(again)).await;
    assert!(matches!(raised.status, 401 | 403), "{}", raised.text());
    let entries = countersign_testkit::stored_evidence(&scene.plane.place).await;
    assert!(entries.iter().all(|entry| entry.event_type != "execution_claimed"));
}

///
#[tokio::test]
async fn a_key_that_is_revoked_at_one_node_ends_a_wait_and_spends_nothing_at_the_other() {
    let two = Two::nodes().await;
    let asked = two.agent.requests_approval(&two.first, "payments.send", json!({ "amount": 82 })).await;
    let waiting = two.second.waits(&two.agent, &asked).await;
    let allowed = two.agent.requests_approval(&two.first, "mail.send", json!({ "amount": 1 })).await;
    two.alice.accepts(&two.first, &allowed).await;
    two.first.revoke_key(&two.agent).await;
    let claimed = two.second.claims(&two.agent, &allowed).await;
    assert!(matches!(claimed.status, 401 | 403 | 409), "{}", claimed.text());
    let ended = woken(waiting).await;
    assert!(matches!(ended.status, 401 | 403), "{}", ended.text());
}

///
#[tokio::test]
async fn an_approval_by_a_person_removed_at_one_node_cannot_be_claimed_at_the_other() {
    let two = Two::nodes().await;
    let allowed = two.agent.requests_approval(&two.first, "mail.send", json!({ "amount": 1 })).await;
    two.alice.accepts(&two.first, &allowed).await;
    two.first.engine.people().set_disabled("alice", true).await.unwrap();
    // She was responsible for the agent's key, so it ended with her account.
    two.second.claims(&two.agent, &allowed).await.expect(403);
}
