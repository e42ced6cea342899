//! Raised at one node, answered at the other, due at both.

use super::{Two, woken};
use axum::body::Body;
use countersign_testkit::{Answer, aaep::event, stored_evidence};
use futures_util::future::join_all;
use http::{Request, header};
use serde_json::json;
use std::collections::BTreeSet;

/// AAEP-6.3.5-01, AAEP-6.3.5-02, AAEP-6.7.2-01
#[tokio::test]
async fn a_question_of_one_node_is_answered_at_the_other_and_both_receive_the_event() {
    let two = Two::nodes().await;
    let (here, mut at_first) = two.alice.subscribed(&two.first).await;
    let (there, mut at_second) = two.listening_at_the_second().await;
    let asked = two.agent.requests_approval(&two.first, "payments.send", json!({ "amount": 82 })).await;
    let waiting = two.second.waits(&two.agent, &asked).await;

    let question = at_second.next_of("awaiting.confirmation").await;
    assert_eq!(question, at_first.next_of("awaiting.confirmation").await);
    two.reply_to_the_second(&there, &there.approval(&two.first, &question)).await.expect(204);
    here.rejects(&two.first, &question).await.expect(204);

    assert_eq!(woken(waiting).await.expect(200).json()["state"], "accepted");
    let told = at_first.next_of("state.changed").await;
    assert_eq!(told["extensions"]["dev_countersign"]["settled"], "accepted");
    assert_eq!(told, at_second.next_of("state.changed").await);
    assert_eq!(two.agent.reads_decision(&two.first, &asked).await.json()["state"], "accepted");
}

/// AAEP-6.4-01, AAEP-6.7.2-01
#[tokio::test]
async fn a_row_that_falls_due_at_both_nodes_is_settled_and_announced_once() {
    const QUESTIONS: usize = 20;
    let two = Two::nodes().await;
    let (_, mut at_first) = two.alice.subscribed(&two.first).await;
    let (_, mut at_second) = two.listening_at_the_second().await;
    for n in 0..QUESTIONS {
        two.agent.requests_approval(&two.first, "notes.tidy", json!({ "n": n })).await;
    }
    two.first.advance_without_settling(60).await;
    let (first, second) = (&two.first.engine, &two.second.engine);
    let looks = (0..3).flat_map(|_| [first.decisions().settle_due(), second.decisions().settle_due()]);
    assert!(join_all(looks).await.into_iter().all(|looked| looked.is_ok()));

    let entries = stored_evidence(&two.first.place).await;
    assert_eq!(entries.iter().filter(|entry| entry.event_type == "decision_settled").count(), QUESTIONS);
    let last = two.agent.requests_approval(&two.first, "mail.send", json!({ "last": true })).await;
    for heard in [&mut at_first, &mut at_second] {
        let (mut settled, mut asked_last) = (Vec::new(), false);
        while settled.len() < QUESTIONS || !asked_last {
            let event = heard.event().await;
            let ours = &event["extensions"]["dev_countersign"];
            settled.extend((ours["settled"] == "expired").then(|| ours["decision_id"].to_string()));
            asked_last |= ours["decision_id"] == last["decision_id"];
        }
        let distinct: BTreeSet<&String> = settled.iter().collect();
        assert_eq!((settled.len(), distinct.len()), (QUESTIONS, QUESTIONS));
    }
}

/// AAEP 3.2.3, AAEP 8.2.4
#[tokio::test]
async fn an_event_that_is_sent_to_both_nodes_is_delivered_once() {
    let two = Two::nodes().await;
    let session = two.agent.opens_session(&two.first).await;
    let mut progress = event("progress.updated", json!({ "progress": { "percent": 10 } }));
    progress["event_id"] = json!("evt_1");
    let at_second = || {
        let request = Request::post(format!("/aaep/v1/sessions/{session}/events"))
            .header(header::AUTHORIZATION, format!("Bearer {}", two.agent.token))
            .header(header::CONTENT_TYPE, "application/json");
        Answer::to(&two.second.public, request.body(Body::from(progress.to_string())).unwrap())
    };
    let (here, there) = tokio::join!(two.agent.publishes(&two.first, &session, &progress), at_second());
    assert_eq!(here.expect(201).json(), there.expect(201).json());
    assert_eq!(at_second().await.expect(201).json()["sequence_number"], 1);
    let more = event("progress.updated", json!({ "progress": { "percent": 20 } }));
    let next = two.agent.publishes(&two.first, &session, &more).await.expect(201).json();
    assert_eq!(next["sequence_number"], 2);
}
