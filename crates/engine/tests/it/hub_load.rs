//! Slow readers, and very many of them.

use crate::hub::{World, answering, ends_with, hears, is_asked, kind, there_is};
use countersign_engine::Refusal;
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn an_absent_reader_gets_less_and_is_then_closed_while_another_gets_everything() {
    let world = World::start().await;
    let alice = world.subscriber("alice", true).await.listener;
    let (_, mut keen) = world.listens(&alice).await;
    let (id, mut slow) = world.listens(&alice).await;
    let agent = world.agent_of("alice").await;
    let session = world.opens(&agent).await;
    hears(&mut keen).await;
    for step in 1..=300 {
        let progress = json!({ "type": "aaep:agent.progress.updated", "progress": { "step": step } });
        world.says(&agent, &session, progress).await;
        assert_eq!(hears(&mut keen).await["progress"]["step"], json!(step));
    }
    let mut told = there_is(&mut slow);
    // Another thread may still be handing it the last one.
    while told.last().is_none_or(|last| last["progress"]["step"] != json!(300)) {
        told.push(hears(&mut slow).await);
    }
    assert!((2..100).contains(&told.len()), "{} events", told.len());

    for n in 0..600 {
        let call = format!("call_{n}");
        let invoked =
            json!({ "type": "aaep:agent.tool.invoked", "tool": "look", "summary_normal": "x", "tool_call_id": call });
        let done =
            json!({ "type": "aaep:agent.tool.completed", "tool": "look", "status": "success", "tool_call_id": call });
        for event in [invoked, done] {
            world.says(&agent, &session, event).await;
            assert!(kind(&hears(&mut keen).await).starts_with("tool."));
        }
    }
    assert_eq!(ends_with(&mut slow).await, "too_slow");
    crate::hub::until(async || {
        matches!(world.engine.events().stream(&world.at, &alice, &id, None).await.err(), Some(Refusal::NotFound(_)))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_subscriptions_of_one_person_all_hear_a_question_and_the_next_one_is_refused() {
    const MANY: usize = 10_000;
    let world = World::start().await;
    let alice = world.subscriber("alice", true).await.listener;
    let before = resident_kib();
    let mut streams = Vec::with_capacity(MANY);
    for batch in 0..MANY / 100 {
        let opened = (0..100).map(|_| async {
            let id = world.subscribe(&alice, answering()).await.unwrap().subscription_id;
            world.stream(&alice, &id).await
        });
        streams.extend(futures_util::future::join_all(opened).await);
        assert_eq!(streams.len(), (batch + 1) * 100);
    }
    println!("{} bytes a listening subscription", (resident_kib() - before) * 1024 / MANY);
    let refused = world.subscribe(&alice, answering()).await.unwrap_err();
    assert_eq!(serde_json::to_value(refused.reason_code).unwrap(), "rate_limit");

    let agent = world.agent_of("alice").await;
    world.asks(&agent, "book a table").await;
    let first = is_asked(&mut streams[0]).await;
    for stream in &mut streams[1..] {
        assert_eq!(is_asked(stream).await, first);
    }
    println!("{} bytes after one question", (resident_kib() - before) * 1024 / MANY);
}

/// Of this whole process, including concurrent tests.
fn resident_kib() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()).and_then(|kib| kib.parse().ok()).unwrap_or(0)
}
