//! Asked at one node, answered at the other, due at both.

use super::{Two, woken};
use countersign_testkit::stored_evidence;
use futures_util::future::join_all;
use serde_json::json;
use std::collections::BTreeSet;

/// AAEP-6.3.5-01, AAEP-6.3.5-02, AAEP-6.7.2-01
#[tokio::test]
async fn a_question_of_one_node_is_answered_at_the_other_and_both_are_told() {
    let two = Two::nodes().await;
    let (here, mut at_first) = two.alice.listening(&two.first).await;
    let (there, mut at_second) = two.listening_at_the_second().await;
    let asked = two.agent.asks_to(&two.first, "payments.send", json!({ "amount": 82 })).await;
    let waiting = two.second.waits(&two.agent, &asked).await;

    let question = at_second.next_of("awaiting.confirmation").await;
    assert_eq!(question, at_first.next_of("awaiting.confirmation").await);
    two.reply_to_the_second(&there, &there.yes(&two.first, &question)).await.expect(204);
    here.rejects(&two.first, &question).await.expect(204);

    assert_eq!(woken(waiting).await.expect(200).json()["state"], "accepted");
    let told = at_first.next_of("state.changed").await;
    assert_eq!(told["extensions"]["dev_countersign"]["settled"], "accepted");
    assert_eq!(told, at_second.next_of("state.changed").await);
    assert_eq!(two.agent.looks(&two.first, &asked).await.json()["state"], "accepted");
}

/// AAEP-6.4-01, AAEP-6.7.2-01
#[tokio::test]
async fn what_falls_due_while_both_nodes_look_is_settled_and_told_once() {
    const QUESTIONS: usize = 20;
    let two = Two::nodes().await;
    let (_, mut at_first) = two.alice.listening(&two.first).await;
    let (_, mut at_second) = two.listening_at_the_second().await;
    for n in 0..QUESTIONS {
        two.agent.asks_to(&two.first, "notes.tidy", json!({ "n": n })).await;
    }
    two.first.advance_unseen(60).await;
    let (first, second) = (&two.first.engine, &two.second.engine);
    let looks = (0..3).flat_map(|_| [first.settle_due(), second.settle_due()]);
    assert!(join_all(looks).await.into_iter().all(|looked| looked.is_ok()));

    let entries = stored_evidence(&two.first.place).await;
    assert_eq!(entries.iter().filter(|entry| entry.event_type == "decision_settled").count(), QUESTIONS);
    let last = two.agent.asks_to(&two.first, "mail.send", json!({ "last": true })).await;
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
