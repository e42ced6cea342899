use super::*;
use countersign_core::signals::{AaepSignal, Audience};
use serde_json::json;

fn changed(decision: i64) -> Arc<Signal> {
    Arc::new(Signal::Changed { decision })
}

fn said(session: i64, seq: i64) -> Arc<Signal> {
    let event = serde_json::from_value(json!({
        "@context": "https://aaep-protocol.org/context/v1",
        "type": "aaep:agent.session.started",
        "event_id": "evt_1",
        "session_id": "sess_1",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "producer": { "agent_id": "agent" },
        "aaep_version": "1.0.0",
        "urgency": "normal",
        "localization_hints": {},
    }));
    let (event, to) = (Arc::new(event.unwrap()), Audience::default());
    Arc::new(Signal::Said(Box::new(AaepSignal { project: 1, session, seq, to, event, translations: [].into() })))
}

fn found(lane: i64, pos: i64, news: &Arc<Signal>) -> PlacedSignal {
    PlacedSignal { lane, pos, news: Some(news.clone()) }
}

fn standing(lane: i64, first: i64, ends: &[(i64, i64)]) -> FeedPosition {
    FeedPosition { lane, first, ends: ends.to_vec() }
}

fn heard(listener: &mut UnboundedReceiver<SignalBatch>) -> Batch {
    std::iter::from_fn(|| listener.try_recv().ok()).flatten().collect()
}

#[test]
fn a_signal_that_follows_one_of_another_lane_waits_for_it() {
    let listeners = Listeners::default();
    let mut listener = listeners.listen();
    listeners.start_after([(0, 7), (1, 3)]);
    assert!(!listeners.publish_own(&standing(0, 8, &[(0, 7), (1, 4)]), vec![changed(2)]));
    assert_eq!(heard(&mut listener), []);
    listeners.publish_found(vec![found(0, 8, &changed(2)), found(1, 4, &changed(1))], None);
    assert_eq!(heard(&mut listener), [changed(2), changed(1)]);
    assert!(listeners.publish_own(&standing(0, 9, &[(0, 8), (1, 4)]), vec![changed(3), changed(4)]));
    assert_eq!(heard(&mut listener), [changed(3), changed(4)]);
}

#[test]
fn a_signal_already_read_from_the_feed_is_not_delivered_again() {
    let listeners = Listeners::default();
    let mut listener = listeners.listen();
    listeners.publish_found(vec![found(0, 1, &changed(1)), found(0, 2, &changed(2))], None);
    assert!(listeners.publish_own(&standing(0, 1, &[(0, 0)]), vec![changed(1), changed(2)]));
    listeners.publish_found(vec![found(0, 2, &changed(2)), found(0, 3, &changed(3))], None);
    assert_eq!(heard(&mut listener), [changed(1), changed(2), changed(3)]);
}

///
#[test]
fn after_a_commit_whose_end_was_not_known_the_feed_has_its_entries() {
    let listeners = Listeners::default();
    let mut listener = listeners.listen();
    assert!(listeners.publish_own(&standing(0, 1, &[(0, 0)]), vec![changed(1)]));
    // The commit of 2 was never acknowledged, although it had happened.
    assert!(!listeners.publish_own(&standing(0, 3, &[(0, 2)]), vec![changed(3)]));
    listeners.publish_found(vec![found(0, 2, &changed(2)), found(0, 3, &changed(3))], None);
    assert!(listeners.publish_own(&standing(0, 4, &[(0, 3)]), vec![changed(4)]));
    assert_eq!(heard(&mut listener), [changed(1), changed(2), changed(3), changed(4)]);
}

#[test]
fn unknown_signals_are_skipped() {
    let listeners = Listeners::default();
    let mut listener = listeners.listen();
    let strange = PlacedSignal { lane: 0, pos: 1, news: None };
    listeners.publish_found(vec![strange, found(0, 2, &changed(2))], None);
    assert_eq!(heard(&mut listener), [changed(2)]);
    assert_eq!(listeners.positions(), (vec![0], vec![2]));
}

#[test]
fn events_of_a_session_that_come_from_several_lanes_are_put_in_order() {
    let read = vec![said(1, 2), changed(9), said(2, 5), said(1, 3), said(1, 1), said(2, 4), changed(8)];
    let told = vec![said(1, 1), changed(9), said(2, 4), said(1, 2), said(1, 3), said(2, 5), changed(8)];
    assert_eq!(in_order(read), told);
}

#[test]
fn a_dropped_listener_is_not_kept() {
    let listeners = Listeners::default();
    drop(listeners.listen());
    assert!(!listeners.has_listeners());
    listeners.publish(vec![changed(1)]);
    assert!(listeners.state().listeners.is_empty());
}
