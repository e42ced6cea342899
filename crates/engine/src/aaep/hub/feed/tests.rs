use super::{
    super::delivery::{Delivery, NextDelivery},
    Feed, Joined, MOST_UNREAD,
};
use countersign_core::{
    aaep::{
        negotiate::{Offer, SubscriptionTerms, negotiate},
        shared_event::SharedEvent,
    },
    records::{Subscription, SubscriptionOwner},
};
use countersign_protocol::{
    aaep::{
        event::Event,
        handshake::{Capabilities, SubscriptionRequest},
    },
    time::UnixMillis,
};
use serde_json::{Value, json};
use std::sync::Arc;

const NOW: UnixMillis = UnixMillis(1_800_000_000_000);

fn event(session: i64, seq: i64, kind: &str, rest: Value) -> Arc<SharedEvent> {
    let critical = kind.starts_with("awaiting");
    let mut event = json!({
        "@context": "https://aaep-protocol.org/context/v1",
        "type": format!("aaep:agent.{kind}"),
        "event_id": format!("evt_{session}x{seq}"),
        "session_id": format!("sess_{session}"),
        "timestamp": "2027-01-15T08:00:00.000Z",
        "producer": { "agent_id": "agent" },
        "aaep_version": "1.0.0",
        "urgency": if critical { "critical" } else { "normal" },
        "localization_hints": { "primary_language": "en" },
    });
    event.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    let event: Event = serde_json::from_value(event).unwrap();
    Arc::new(SharedEvent::new(session, seq, event, Vec::new()))
}

fn started(session: i64) -> Arc<SharedEvent> {
    event(session, 0, "session.started", json!({ "summary_normal": "on it" }))
}

fn progress(session: i64, seq: i64) -> Arc<SharedEvent> {
    event(session, seq, "progress.updated", json!({ "progress": { "step": seq } }))
}

fn question(session: i64, seq: i64) -> Arc<SharedEvent> {
    let rest = json!({
        "action": "pay", "consequence": "it is paid", "reply_token": "rpl_1", "timeout_seconds": 60,
        "default_decision": "reject",
    });
    event(session, seq, "awaiting.confirmation", rest)
}

/// The same question, repeated for a reader that joins late.
fn again(question: &SharedEvent) -> Arc<SharedEvent> {
    Arc::new(SharedEvent::new(question.session, -1, question.event.clone(), Vec::new()))
}

fn feed() -> Feed {
    Feed::new(Arc::new(SubscriptionTerms::implicit(&Offer::default())), NOW)
}

fn rated(rate: u32) -> Feed {
    let capabilities = Capabilities { max_events_per_second: Some(rate), ..Capabilities::default() };
    let request = SubscriptionRequest { aaep_version: "1.0.0".into(), capabilities, ..SubscriptionRequest::default() };
    Feed::new(Arc::new(negotiate(&request, &Offer::default()).unwrap()), NOW)
}

fn read(feed: &mut Feed) -> Vec<(i64, i64)> {
    std::iter::from_fn(|| feed.next(NOW)).map(|(spoken, _)| (spoken.session, spoken.seq)).collect()
}

fn standing(session: i64, said: i64, questions: &[&Arc<SharedEvent>]) -> Joined {
    let events = questions.iter().map(|question| again(question)).collect();
    Joined { session, floor: Some(said), events }
}

#[test]
fn events_during_the_first_delivery_follow_it_once_each() {
    let mut feed = feed();
    let asked = question(1, 4);
    assert!(!feed.resume_or_hold(None));
    feed.push(&progress(1, 3), true, NOW);
    feed.push(&asked, true, NOW);
    feed.push(&progress(1, 5), true, NOW);
    assert_eq!(read(&mut feed), []);
    // The session row was read after five events: the last of them is still on its way.
    feed.deliver_snapshot(vec![standing(1, 5, &[&asked])], NOW);
    assert_eq!(read(&mut feed), [(1, -1), (1, 5)]);
    feed.push(&progress(1, 6), true, NOW);
    assert_eq!(read(&mut feed), [(1, 6)]);
}

#[test]
fn a_signal_later_than_its_row_is_not_delivered_again() {
    let mut feed = feed();
    let asked = question(1, 4);
    feed.resume_or_hold(None);
    feed.deliver_snapshot(vec![standing(1, 5, &[&asked])], NOW);
    for late in [progress(1, 3), asked, progress(1, 5)] {
        feed.push(&late, true, NOW);
    }
    assert_eq!(read(&mut feed), [(1, -1), (1, 5)]);
}

#[test]
fn a_question_that_came_after_its_session_was_read_is_delivered_once() {
    let mut feed = feed();
    let asked = question(1, 4);
    feed.resume_or_hold(None);
    feed.push(&asked, true, NOW);
    feed.deliver_snapshot(vec![standing(1, 4, &[&asked])], NOW);
    assert_eq!(read(&mut feed), [(1, -1)]);
}

#[test]
fn every_event_of_a_session_that_begins_while_a_reader_connects_is_delivered_and_counted() {
    let mut feed = feed();
    let asked = question(1, 1);
    feed.resume_or_hold(None);
    feed.push(&started(1), true, NOW);
    feed.push(&asked, true, NOW);
    feed.deliver_snapshot(vec![standing(1, 2, &[&asked])], NOW);
    let counted: Vec<bool> = std::iter::from_fn(|| feed.next(NOW)).map(|(_, form)| form.sequence).collect();
    assert_eq!(counted, [true, true]);
}

#[test]
fn a_sequence_with_a_hole_is_counted_no_further() {
    let mut feed = feed();
    feed.resume_or_hold(None);
    feed.deliver_snapshot(Vec::new(), NOW);
    for spoken in [started(1), progress(1, 1), progress(1, 3), progress(1, 4), progress(2, 7)] {
        feed.push(&spoken, true, NOW);
    }
    let counted: Vec<bool> = std::iter::from_fn(|| feed.next(NOW)).map(|(_, form)| form.sequence).collect();
    assert_eq!(counted, [true, true, false, false, false]);
}

#[test]
fn without_a_reader_only_critical_events_wait_unfolded_and_a_rate_is_kept_afterwards() {
    let mut feed = rated(1);
    for seq in 0..50 {
        feed.push(&progress(1, seq), false, NOW);
    }
    feed.push(&question(2, 0), false, NOW);
    assert_eq!(read(&mut feed), [(2, 0), (1, 49)]);
    feed.push(&progress(1, 50), true, NOW);
    assert_eq!(read(&mut feed), [], "its second is not over");
    assert_eq!(feed.next_due(), Some(NOW.plus_millis(1000)));
}

#[test]
fn events_that_cannot_be_folded_fill_it_in_the_end() {
    let mut feed = feed();
    for seq in 0..=i64::try_from(MOST_UNREAD).unwrap() {
        assert!(!feed.is_full());
        feed.push(&question(1, seq), false, NOW);
    }
    assert!(feed.is_full());
}

///
#[test]
fn a_reader_receives_nothing_while_its_entitlement_is_being_checked() {
    let owner = SubscriptionOwner::Token { key: 3 };
    let row = Subscription {
        key: 1,
        version: 1,
        project: 1,
        id: "sub_1".into(),
        person: 2,
        owner,
        may_answer: true,
        subscriber_id: "phone".into(),
        capabilities: json!({}),
        opened_at: NOW,
        closed_at: None,
    };
    let delivery = Arc::new(Delivery::new(&row, Arc::new(SubscriptionTerms::implicit(&Offer::default())), NOW));
    let reader = delivery.attach(owner, None, None, NOW).number;
    delivery.deliver_snapshot(reader, Vec::new(), NOW);
    let (first, second) = (delivery.hold_for_check(), delivery.hold_for_check());
    assert!(delivery.push(&[started(1)], NOW));
    assert!(matches!(delivery.next_for(reader, NOW), NextDelivery::Wait(None)));
    drop(first);
    assert!(matches!(delivery.next_for(reader, NOW), NextDelivery::Wait(None)), "the other check has not ended");
    drop(second);
    assert!(matches!(delivery.next_for(reader, NOW), NextDelivery::Event(..)));
}
