//! One node goes; the other continues its work.

use super::{Node, Two};
use countersign_engine::store::StoreLocation;
use countersign_testkit::{TestAgent, aaep::moment, postgres};
use serde_json::{Value, json};

/// AAEP-6.4-01, AAEP-6.4-04, R-6, R-21
#[tokio::test]
async fn a_lost_nodes_open_questions_are_answered_and_settled_by_the_other() {
    let two = Two::nodes().await;
    let (subscriber, mut heard) = two.listening_at_the_second().await;
    let tidied = two.agent.requests_approval(&two.first, "notes.tidy", json!({ "n": 1 })).await;
    heard.next_of("awaiting.confirmation").await;
    let claimed = two.agent.requests_approval(&two.first, "mail.send", json!({ "n": 2 })).await;
    heard.next_of("awaiting.confirmation").await;
    two.alice.accepts(&two.first, &claimed).await;
    two.agent.claims(&two.first, &claimed, &json!({ "digest": claimed["digest"] })).await.expect(200);
    let open = two.agent.requests_approval(&two.first, "payments.send", json!({ "n": 3 })).await;
    let question = heard.next_of("awaiting.confirmation").await;
    let yes = subscriber.approval(&two.first, &question);
    let Two { first, second, agent, .. } = two;
    let (clock, StoreLocation::Postgres(place)) = (first.clock.clone(), first.place.clone()) else {
        panic!("two nodes")
    };
    first.engine.store().close().await;
    drop(first);

    clock.advance_secs(60);
    postgres::set_clock(&place.url, clock.now().0).await;
    let request = subscriber.request(http::Method::POST, "/aaep/v1/replies");
    let mut yes: Value = yes;
    yes["timestamp"] = json!(moment(clock.now()));
    let request = request.header("content-type", "application/json").body(axum::body::Body::from(yes.to_string()));
    countersign_testkit::Answer::to(&second.public, request.unwrap()).await.expect(204);
    second.engine.decisions().settle_due().await.unwrap();

    assert_eq!(state(&second, &agent, &open).await, ("accepted".into(), Value::Null));
    assert_eq!(state(&second, &agent, &claimed).await, ("accepted".into(), json!("unknown")));
    // The other node was running all the time, so this did not fall due unseen.
    assert_eq!(second.looks(&agent, &tidied).await["expired_as"], "accept");
    second.claims(&agent, &claimed).await.expect(409);
    second.claims(&agent, &open).await.expect(200);
}

async fn state(node: &Node, agent: &TestAgent, decision: &Value) -> (String, Value) {
    let now = node.looks(agent, decision).await;
    (now["state"].as_str().unwrap().to_owned(), now["execution"]["state"].clone())
}
