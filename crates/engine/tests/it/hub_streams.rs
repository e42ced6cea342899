//! Recipients and order of events, and the events of a late or returning subscriber.

use crate::hub::{World, answering, hears, is_asked, kind, kinds, next, text, there_is};
use countersign_engine::Refusal;
use serde_json::json;

/// AAEP-6.7-01
#[tokio::test(flavor = "multi_thread")]
async fn a_question_reaches_entitled_readers_and_nobody_else() {
    let world = World::start().await;
    let (alice, bob, carol) = (
        world.subscriber("alice", true).await.listener,
        world.subscriber("bob", true).await.listener,
        world.subscriber("carol", true).await.listener,
    );
    let (_, mut to_alice) = world.listens(&alice).await;
    let (_, mut to_bob) = world.listens(&bob).await;
    let (_, mut to_carol) = world.listens(&carol).await;
    let quiet = json!({ "max_events_per_second": 1, "event_filters": { "include": [] } });
    let id = world.subscribe(&alice, quiet).await.unwrap().subscription_id;
    let mut quietly = world.stream(&alice, &id).await;

    let of_alice = world.agent_of("alice").await;
    world.asks(&of_alice, "book a table").await;
    let told = is_asked(&mut to_alice).await;
    assert_eq!(kinds(&told), ["session.started", "state.changed", "awaiting.confirmation"]);
    assert_eq!(
        [&told[0], &told[1], &told[2]].map(|event| event["sequence_number"].clone()),
        [0, 1, 2].map(|n| json!(n))
    );
    // Despite filter and rate, and without the capability to reply.
    let asked = hears(&mut quietly).await;
    assert_eq!(kind(&asked), "awaiting.confirmation");
    assert_eq!((&asked["event_id"], &asked["reply_token"]), (&told[2]["event_id"], &told[2]["reply_token"]));

    // Neither received alice's: the first event of each is one that concerns them.
    let body = json!({ "action": "pay", "consequence": "money leaves", "tool": "pay", "arguments": {} });
    let body = serde_json::from_value(body).unwrap();
    let of_carol = world.agent_of("carol").await;
    world.engine.decisions().raise_confirmation(&world.at, &of_carol, &body).await.unwrap();
    let carols = is_asked(&mut to_carol).await;
    let bobs = is_asked(&mut to_bob).await;
    assert_eq!(kinds(&carols), ["session.started", "state.changed", "awaiting.confirmation"]);
    assert_eq!(bobs, carols);
    assert_eq!(there_is(&mut to_alice), Vec::<serde_json::Value>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn events_of_a_session_come_in_their_order_without_a_hole() {
    let world = World::start().await;
    let alice = world.subscriber("alice", true).await.listener;
    let (_, mut stream) = world.listens(&alice).await;
    let agent = world.agent_of("alice").await;
    let session = world.opens(&agent).await;
    for percent in 1..=50 {
        let progress = json!({ "type": "aaep:agent.progress.updated", "progress": { "percent": percent } });
        world.says(&agent, &session, progress).await;
    }
    for number in 0..=50 {
        assert_eq!(hears(&mut stream).await["sequence_number"], json!(number));
    }
}

/// AAEP-6.7-02
#[tokio::test(flavor = "multi_thread")]
async fn a_late_subscriber_gets_the_state_and_pending_questions_unchanged_and_can_answer_them() {
    let world = World::start().await;
    let alice = world.subscriber("alice", true).await.listener;
    let (_, mut first) = world.listens(&alice).await;
    let agent = world.agent_of("alice").await;
    let asked = world.asks(&agent, "book a table").await;
    let original = is_asked(&mut first).await.pop().unwrap();

    world.clock.advance_secs(30);
    let (id, mut late) = world.listens(&alice).await;
    let (summary, again) = (hears(&mut late).await, hears(&mut late).await);
    assert_eq!((kind(&summary), text(&summary, "to_state").as_str()), ("state.changed", "awaiting_input"));
    assert_eq!(summary["extensions"]["dev_countersign"]["summary"], json!(true));
    assert_eq!(summary["session_id"], original["session_id"]);
    for member in ["event_id", "timestamp", "reply_token", "session_id", "action", "timeout_seconds", "producer"] {
        assert_eq!(again[member], original[member], "{member}");
    }
    assert!(summary["sequence_number"].is_null() && again["sequence_number"].is_null());
    assert_eq!(there_is(&mut late), Vec::<serde_json::Value>::new());

    world.replies(&alice, &id, &text(&again, "reply_token"), "accept").await;
    assert_eq!(world.state_of(&agent, &asked).await, "accepted");
    // Both receive the outcome, and neither receives the question again.
    assert_eq!(text(&hears(&mut first).await, "to_state"), "calling_tool");
    let told = hears(&mut late).await;
    assert_eq!(text(&told, "to_state"), "calling_tool");
    assert!(told["sequence_number"].is_null(), "it did not hear the beginning, so it is not counted for it");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_between_subscribing_and_listening_is_not_lost_and_comes_once() {
    let world = World::start().await;
    let alice = world.subscriber("alice", true).await.listener;
    let id = world.subscribe(&alice, answering()).await.unwrap().subscription_id;
    let agent = world.agent_of("alice").await;
    world.asks(&agent, "book a table").await;
    let mut stream = world.stream(&alice, &id).await;
    let told = is_asked(&mut stream).await;
    // In either order of signal and row: the question comes once, after the current state.
    assert_eq!(kind(told.last().unwrap()), "awaiting.confirmation");
    world.asks(&agent, "call a taxi").await;
    let then = is_asked(&mut stream).await;
    assert_eq!(kinds(&then), ["session.started", "state.changed", "awaiting.confirmation"]);
    assert_eq!(text(then.last().unwrap(), "action"), "call a taxi");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_comes_back_goes_on_after_the_last_event_that_it_had() {
    let world = World::start().await;
    let alice = world.subscriber("alice", true).await.listener;
    let (id, mut stream) = world.listens(&alice).await;
    let agent = world.agent_of("alice").await;
    world.asks(&agent, "book a table").await;
    let told = is_asked(&mut stream).await;
    drop(stream);
    world.asks(&agent, "call a taxi").await;

    let had = text(&told[0], "event_id");
    let mut back = world.engine.events().stream(&world.at, &alice, &id, Some(&had)).await.unwrap();
    let mut again = is_asked(&mut back).await;
    assert_eq!(again, told[1..], "what it may have missed is sent again, exactly as it was");
    again.clear();
    again.extend(is_asked(&mut back).await);
    assert_eq!(kinds(&again), ["session.started", "state.changed", "awaiting.confirmation"]);
    assert_eq!(there_is(&mut back), Vec::<serde_json::Value>::new());

    // No node remembers that one, so it receives the open questions.
    drop(back);
    let mut lost = world.engine.events().stream(&world.at, &alice, &id, Some("evt_unknown")).await.unwrap();
    let questions: Vec<String> = there_is(&mut lost).iter().map(|event| text(event, "action")).collect();
    assert_eq!(questions, ["", "book a table", "", "call a taxi"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_is_forgotten_a_minute_after_its_reader_left_and_its_subscription_is_not() {
    let world = World::start().await;
    let alice = world.subscriber("alice", true).await.listener;
    let (id, mut stream) = world.listens(&alice).await;
    let agent = world.agent_of("alice").await;
    world.asks(&agent, "book a table").await;
    let last = text(is_asked(&mut stream).await.last().unwrap(), "event_id");
    drop(stream);
    world.clock.advance_secs(61);
    world.engine.events().run_hub_timers();
    let mut back = world.engine.events().stream(&world.at, &alice, &id, Some(&last)).await.unwrap();
    assert_eq!(kinds(&is_asked(&mut back).await), ["state.changed", "awaiting.confirmation"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscription_is_served_on_another_node_and_after_a_restart_on_the_same_terms() {
    let world = World::start().await;
    let alice = world.subscriber("alice", true).await.listener;
    let german = json!({ "languages": ["de"], "event_filters": { "exclude": ["aaep:agent.session.started"] } });
    let id = world.subscribe(&alice, german).await.unwrap().subscription_id;
    let other = world.another().await;
    let mut stream = other.stream(&alice, &id).await;
    let agent = other.agent_of("alice").await;
    other.asks(&agent, "book a table").await;
    let told = is_asked(&mut stream).await;
    assert_eq!(kinds(&told), ["state.changed", "awaiting.confirmation"]);
    assert_eq!(told[0]["localization_hints"]["primary_language"], "de");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscription_of_somebody_else_does_not_exist_and_a_second_stream_ends_the_first() {
    let world = World::start().await;
    let alice = world.subscriber("alice", true).await.listener;
    let carol = world.subscriber("carol", true).await.listener;
    let (id, mut first) = world.listens(&alice).await;
    assert!(matches!(
        world.engine.events().stream(&world.at, &carol, &id, None).await.err(),
        Some(Refusal::NotFound(_))
    ));
    assert!(matches!(
        world.engine.events().close_subscription(&world.at, &carol, &id).await,
        Err(Refusal::NotFound(_))
    ));
    let mut second = world.stream(&alice, &id).await;
    assert_eq!(next(&mut first).await, None);
    drop(first);
    let agent = world.agent_of("alice").await;
    world.asks(&agent, "book a table").await;
    assert_eq!(is_asked(&mut second).await.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn new_terms_bind_questions_after_the_answer() {
    let world = World::start().await;
    let alice = world.subscriber("alice", true).await.listener;
    let (id, mut stream) = world.listens(&alice).await;
    let message = json!({
        "type": "subscription.renegotiate",
        "subscription_id": id,
        "capabilities": { "languages": ["de"], "event_filters": { "exclude": ["aaep:agent.session.*"] } },
    });
    let message = countersign_protocol::aaep::handshake::Renegotiate::parse(&message).unwrap();
    let accepted = world.engine.events().renegotiate(&world.at, &alice, &message).await.unwrap();
    assert_eq!(accepted.honored_capabilities.languages, Some(vec!["de".into()]));
    assert_eq!(accepted.honored_capabilities.supports_confirmation_reply, Some(true), "what is not named stays");
    let agent = world.agent_of("alice").await;
    world.asks(&agent, "book a table").await;
    let told = is_asked(&mut stream).await;
    assert_eq!(kinds(&told), ["state.changed", "awaiting.confirmation"]);
    assert_eq!(told[0]["localization_hints"]["primary_language"], "de");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_signed_manifests_gets_one_that_names_the_same_producer() {
    let world = World::start().await;
    let alice = world.subscriber("alice", true).await.listener;
    let accepted = world.subscribe(&alice, json!({ "accept_signed_manifests_only": true })).await.unwrap();
    let keys = world.engine.keys().unwrap();
    let manifest = countersign_jose::verify_manifest(&accepted.signed_manifest.unwrap(), &keys.set).unwrap();
    assert_eq!(manifest.agent_id, accepted.producer.agent_id);
    assert_eq!(manifest, world.engine.events().aaep_manifest(&world.at).await.unwrap().0);
    assert_eq!(accepted.manifest_uri.as_deref(), Some("http://127.0.0.1:8420/.well-known/aaep-manifest.json"));
}
