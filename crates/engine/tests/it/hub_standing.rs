//! The conditions for receiving and answering, their end, and the questions without a subscriber.

use crate::hub::{World, answering, ends_with, is_asked, text, until};
use countersign_engine::{NewSubscriberToken, Refusal, Role};
use countersign_protocol::{aaep::reply, decisions::DecisionDocument};
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_was_taken_back_ends_its_stream_at_once_and_its_replies_count_no_more() {
    let world = World::start().await;
    let speaker = world.subscriber("alice", true).await;
    let other = world.subscriber("alice", true).await.listener;
    let (id, mut stream) = world.listens(&speaker.listener).await;
    let (other_id, mut others) = world.listens(&other).await;
    let agent = world.agent_of("alice").await;
    let asked = world.asks(&agent, "book a table").await;
    let token = text(is_asked(&mut stream).await.last().unwrap(), "reply_token");

    let member = world.member("alice").await;
    world.engine.events().revoke_subscriber_token(&world.at, &member, &speaker.token.id).await.unwrap();
    assert_eq!(ends_with(&mut stream).await, "authorization_denied");
    world.replies(&speaker.listener, &id, &token, "accept").await;
    assert_eq!(world.state_of(&agent, &asked).await, "pending");
    let refused = world.engine.events().subscriber_by_token(&world.at, &speaker.secret).await.err();
    assert!(matches!(refused, Some(Refusal::NotAuthorized(_))), "{refused:?}");
    let refused = world.engine.events().stream(&world.at, &speaker.listener, &id, None).await.err();
    assert!(refused.is_some());

    // Another subscriber of the same person is not affected.
    is_asked(&mut others).await;
    world.replies(&other, &other_id, &token, "accept").await;
    assert_eq!(world.state_of(&agent, &asked).await, "accepted");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disabled_or_removed_person_receives_nothing_more() {
    let world = World::start().await;
    let alice = world.subscriber("alice", true).await.listener;
    let bob = world.subscriber("bob", true).await.listener;
    let (_, mut to_alice) = world.listens(&alice).await;
    let (_, mut to_bob) = world.listens(&bob).await;
    world.engine.people().set_disabled("alice", true).await.unwrap();
    assert_eq!(ends_with(&mut to_alice).await, "authorization_denied");
    world.engine.people().set_roles(world.at.project.key, "bob", vec![]).await.unwrap();
    assert_eq!(ends_with(&mut to_bob).await, "authorization_denied");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_follows_the_roles_of_its_person() {
    let world = World::start().await;
    let carol = world.subscriber("carol", true).await.listener;
    let (_, mut stream) = world.listens(&carol).await;
    world.engine.people().set_roles(world.at.project.key, "carol", vec![Role::Approver]).await.unwrap();
    let of_alice = world.agent_of("alice").await;
    let mut number = 0;
    until(async || {
        number += 1;
        let body = json!({ "action": "pay", "consequence": "x", "tool": "pay", "arguments": { "n": number } });
        let body = serde_json::from_value(body).unwrap();
        world.engine.decisions().raise_confirmation(&world.at, &of_alice, &body).await.unwrap();
        !crate::hub::there_is(&mut stream).is_empty()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_ends_when_its_token_expires() {
    let world = World::start().await;
    let new = NewSubscriberToken {
        name: "radio".into(),
        may_answer: true,
        legacy: false,
        approves_high_risk: false,
        lifetime_s: Some(600),
    };
    let radio = world.subscriber_with("alice", new).await;
    let (_, mut stream) = world.listens(&radio.listener).await;
    world.clock.advance_secs(600);
    assert_eq!(ends_with(&mut stream).await, "authentication_required");
    assert!(world.engine.events().subscriber_by_token(&world.at, &radio.secret).await.is_err());
}

/// AAEP-6.6-01, AAEP-6.6-02
#[tokio::test(flavor = "multi_thread")]
async fn only_a_subscription_of_ones_own_that_can_answer_answers() {
    let world = World::start().await;
    let (reads, answers) =
        (world.subscriber("alice", false).await.listener, world.subscriber("alice", true).await.listener);
    let carol = world.subscriber("carol", true).await.listener;
    let (reading, mut stream) = world.listens(&reads).await;
    let mute = world.subscribe(&answers, json!({})).await.unwrap().subscription_id;
    let mut forwards = world.stream(&answers, &mute).await;
    let own = world.subscribe(&answers, answering()).await.unwrap().subscription_id;
    let carols = world.subscribe(&carol, answering()).await.unwrap().subscription_id;
    let closed = world.subscribe(&answers, answering()).await.unwrap().subscription_id;
    world.engine.events().close_subscription(&world.at, &answers, &closed).await.unwrap();

    let agent = world.agent_of("alice").await;
    let asked = world.asks(&agent, "book a table").await;
    let token = text(is_asked(&mut stream).await.last().unwrap(), "reply_token");
    assert_eq!(text(is_asked(&mut forwards).await.last().unwrap(), "reply_token"), token);
    let not_counted = [
        (&reads, &reading),
        (&reads, &own),
        (&answers, &reading),
        (&answers, &mute),
        (&answers, &carols),
        (&answers, &closed),
        (&carol, &carols),
        (&carol, &own),
    ];
    for (by, subscription) in not_counted {
        world.replies(by, subscription, &token, "accept").await;
        assert_eq!(world.state_of(&agent, &asked).await, "pending");
    }
    world.replies(&answers, &own, "rpl_00000000000000000000000000000000", "accept").await;
    assert_eq!(world.state_of(&agent, &asked).await, "pending");
    world.replies(&answers, &own, &token, "reject").await;
    assert_eq!(world.state_of(&agent, &asked).await, "rejected");
}

#[tokio::test(flavor = "multi_thread")]
async fn on_the_legacy_pair_a_reply_without_a_subscription_is_its_listeners() {
    let world = World::with(json!({ "legacy_subscribers": true })).await;
    let new = NewSubscriberToken {
        name: "old".into(),
        may_answer: true,
        legacy: true,
        approves_high_risk: true,
        lifetime_s: None,
    };
    let old = world.subscriber_with("alice", new).await.listener;
    assert!(old.is_legacy());
    let id = world.engine.events().subscribe_implicitly(&world.at, &old).await.unwrap();
    let mut stream = world.stream(&old, &id).await;
    let agent = world.agent_of("alice").await;
    let asked = world.asks(&agent, "book a table").await;
    let token = text(is_asked(&mut stream).await.last().unwrap(), "reply_token");
    let nameless = json!({
        "type": "confirmation.reply", "reply_token": token, "decision": "accept",
        "timestamp": world.clock.now().to_rfc3339(),
    });
    let nameless = reply::parse(&nameless, true).unwrap();
    world.engine.events().reply(&world.at, &old, &nameless, false).await.unwrap();
    assert_eq!(world.state_of(&agent, &asked).await, "pending");
    world.engine.events().reply(&world.at, &old, &nameless, true).await.unwrap();
    assert_eq!(world.state_of(&agent, &asked).await, "accepted");
}

/// AAEP-6.4-03
#[tokio::test(flavor = "multi_thread")]
async fn a_closed_or_lost_subscription_ends_no_question() {
    let world = World::start().await;
    let alice = world.subscriber("alice", true).await.listener;
    let (id, mut stream) = world.listens(&alice).await;
    let agent = world.agent_of("alice").await;
    let asked = world.asks(&agent, "book a table").await;
    is_asked(&mut stream).await;
    world.engine.events().close_subscription(&world.at, &alice, &id).await.unwrap();
    assert_eq!(ends_with(&mut stream).await, "closed");
    assert_eq!(world.state_of(&agent, &asked).await, "pending");
}

/// AAEP-6.4-02, AAEP-6.4-03
#[tokio::test(flavor = "multi_thread")]
async fn where_a_project_wants_it_a_question_that_nobody_is_left_to_answer_is_turned_down() {
    let world = World::with(json!({ "early_reject": true })).await;
    let agent = world.agent_of("alice").await;
    let asked = world.asks(&agent, "nobody is there").await;
    assert_eq!(world.state_of(&agent, &asked).await, "expired");

    let alice = world.subscriber("alice", true).await.listener;
    let (first_id, mut first) = world.listens(&alice).await;
    let (_, mut second) = world.listens(&alice).await;
    let mute = world.subscribe(&alice, json!({})).await.unwrap().subscription_id;
    let _mute = world.stream(&alice, &mute).await;
    let asked = world.asks(&agent, "book a table").await;
    is_asked(&mut first).await;
    is_asked(&mut second).await;
    world.engine.events().close_subscription(&world.at, &alice, &first_id).await.unwrap();
    assert_eq!(world.state_of(&agent, &asked).await, "pending", "another one can answer");
    drop(second);
    world.clock.advance_secs(59);
    world.engine.events().run_hub_timers();
    assert_eq!(world.state_of(&agent, &asked).await, "pending", "it may come back");
    world.clock.advance_secs(1);
    world.engine.events().run_hub_timers();
    until(async || world.state_of(&agent, &asked).await == "expired").await;
}

/// AAEP-6.4.2-05
#[tokio::test(flavor = "multi_thread")]
async fn a_request_for_more_time_holds_also_while_away_and_after_a_restart() {
    let world = World::start().await;
    let alice = world.subscriber("alice", true).await.listener;
    let slowly = json!({ "dev_countersign": { "min_timeout_seconds": 1800 } });
    let id = world.subscribe(&alice, slowly).await.unwrap().subscription_id;
    let agent = world.agent_of("alice").await;
    let asked = world.asks(&agent, "book a table").await;
    let seconds = |asked: &DecisionDocument| asked.deadline.unwrap().millis_since(asked.asked_at) / 1000;
    assert_eq!(seconds(&asked), 1800);
    let other = world.another().await;
    let agent = other.agent_of("alice").await;
    assert_eq!(seconds(&other.asks(&agent, "call a taxi").await), 1800);
    other.engine.events().close_subscription(&other.at, &alice, &id).await.unwrap();
    assert_eq!(seconds(&other.asks(&agent, "water the plants").await), 600);
}
