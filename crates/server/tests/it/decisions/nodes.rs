//! Two nodes on one database: there is one decision, on either node.

use countersign_testkit::{
    Backend, Kit,
    decisions::{DecisionFixture, confirmation},
};
use http::Method;
use serde_json::json;
use std::{collections::BTreeSet, time::Duration};

/// AAEP-6.1-09
#[tokio::test]
async fn one_action_raised_on_both_nodes_at_once_is_one_question() {
    let DecisionFixture { plane, alice, agent } = Kit(Backend::Postgres).decision_fixture().await;
    let (_engine, second) = plane.second_node().await;
    let body = confirmation("payments.send", json!({ "amount": 82 })).to_string();
    let raises = (0..20).map(|n| {
        let node = if n % 2 == 0 { &plane.public } else { &second };
        agent.send(node, Method::POST, "/v1/confirmations", Some(body.clone()))
    });
    let answers = futures_util::future::join_all(raises).await;
    let ids: BTreeSet<String> = answers.iter().map(|answer| answer.json()["decision_id"].to_string()).collect();
    let fresh = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!((ids.len(), fresh), (1, 1));
    assert_eq!(alice.pending_questions(&plane).await, 1);
}

///
#[tokio::test]
async fn of_claims_on_both_nodes_at_once_one_is_granted() {
    let DecisionFixture { plane, alice, agent } = Kit(Backend::Postgres).decision_fixture().await;
    let (_engine, second) = plane.second_node().await;
    let asked = agent.requests_approval(&plane, "payments.send", json!({ "amount": 82 })).await;
    alice.accepts(&plane, &asked).await;
    let path = format!("/v1/decisions/{}/claim", asked["decision_id"].as_str().unwrap());
    let body = json!({ "digest": asked["digest"] }).to_string();
    let claims = (0..50).map(|n| {
        let node = if n % 2 == 0 { &plane.public } else { &second };
        agent.send(node, Method::POST, &path, Some(body.clone()))
    });
    let answers = futures_util::future::join_all(claims).await;
    let granted = answers.iter().filter(|answer| answer.status == 200).count();
    let refused = answers.iter().filter(|answer| answer.status == 409).count();
    assert_eq!((granted, refused), (1, 49));
}

#[tokio::test]
async fn a_waiter_at_one_node_gets_a_settlement_of_the_other() {
    let DecisionFixture { plane, alice, agent } = Kit(Backend::Postgres).decision_fixture().await;
    let (_engine, second) = plane.second_node().await;
    let asked = agent.requests_approval(&plane, "payments.send", json!({ "amount": 82 })).await;
    let path = format!("/v1/decisions/{}", asked["decision_id"].as_str().unwrap());
    let (whose, node, wait) = (agent.clone(), second.clone(), format!("{path}?wait=55"));
    let waiting = tokio::spawn(async move { whose.send(&node, Method::GET, &wait, None).await });
    for _ in 0..5 {
        agent.send(&second, Method::GET, &path, None).await.expect(200);
    }
    assert!(!waiting.is_finished());
    alice.accepts(&plane, &asked).await;
    let told = tokio::time::timeout(Duration::from_secs(4), waiting).await.expect("nobody woke it").unwrap();
    assert_eq!(told.expect(200).json()["state"], "accepted");
}

/// AAEP-6.4-01
#[tokio::test]
async fn both_nodes_settle_due_rows_and_each_is_settled_once() {
    let DecisionFixture { plane, agent, .. } = Kit(Backend::Postgres).decision_fixture().await;
    let (engine, _second) = plane.second_node().await;
    let asked = agent.requests_approval(&plane, "notes.tidy", json!({ "n": 1 })).await;
    plane.advance_without_settling(60).await;
    let (left, right) = tokio::join!(plane.engine.decisions().settle_due(), engine.decisions().settle_due());
    assert!(left.is_ok() && right.is_ok());
    let settled = agent.reads_decision(&plane, &asked).await.expect(200).json();
    assert_eq!((&settled["state"], &settled["expired_as"]), (&json!("expired"), &json!("accept")));
    let entries = countersign_testkit::stored_evidence(&plane.place).await;
    assert_eq!(entries.iter().filter(|entry| entry.event_type == "decision_settled").count(), 1);
}
