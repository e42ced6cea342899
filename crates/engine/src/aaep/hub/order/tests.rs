use super::{FORGOTTEN_MS, OVER_MS, Order, PATIENCE_MS};
use countersign_core::signals::{AaepSignal, Audience};
use countersign_protocol::time::UnixMillis;
use serde_json::json;

const NOW: UnixMillis = UnixMillis(1_800_000_000_000);

fn said(session: i64, seq: i64, kind: &str) -> AaepSignal {
    let event = json!({
        "@context": "https://aaep-protocol.org/context/v1",
        "type": format!("aaep:agent.{kind}"),
        "event_id": format!("evt_{session}x{seq}"),
        "session_id": format!("sess_{session}"),
        "timestamp": "2027-01-15T08:00:00.000Z",
        "producer": { "agent_id": "agent" },
        "aaep_version": "1.0.0",
        "urgency": "normal",
        "localization_hints": { "primary_language": "en" },
        "from_state": "thinking",
        "to_state": "deciding",
        "summary_normal": "so it is",
    });
    let event = std::sync::Arc::new(serde_json::from_value(event).unwrap());
    AaepSignal { project: 1, session, seq, to: Audience::default(), event, translations: [].into() }
}

struct Heard {
    order: Order,
    told: Vec<(i64, i64)>,
}

impl Heard {
    fn new() -> Self {
        Self { order: Order::default(), told: Vec::new() }
    }

    fn arrives(&mut self, session: i64, seq: i64, now: UnixMillis) {
        self.arrives_as(session, seq, "state.changed", now);
    }

    fn arrives_as(&mut self, session: i64, seq: i64, kind: &str, now: UnixMillis) {
        let told = &mut self.told;
        self.order.accept(&said(session, seq, kind), now, &mut |said| told.push((said.session, said.seq)));
    }

    fn ticks(&mut self, now: UnixMillis) {
        let told = &mut self.told;
        self.order.tick(now, &mut |said| told.push((said.session, said.seq)));
    }
}

#[test]
fn an_event_that_comes_before_its_predecessor_waits_for_it_and_holds_up_no_other_session() {
    let mut heard = Heard::new();
    for (session, seq) in [(1, 0), (1, 2), (1, 3), (2, 0), (1, 1), (1, 4)] {
        heard.arrives(session, seq, NOW);
    }
    assert_eq!(heard.told, [(1, 0), (2, 0), (1, 1), (1, 2), (1, 3), (1, 4)]);
}

#[test]
fn a_duplicate_is_delivered_once() {
    let mut heard = Heard::new();
    for seq in [0, 0, 2, 2, 1, 0, 1, 2, 3] {
        heard.arrives(1, seq, NOW);
    }
    assert_eq!(heard.told, [(1, 0), (1, 1), (1, 2), (1, 3)]);
}

#[test]
fn signals_from_before_this_nodes_start_are_not_waited_for() {
    let mut heard = Heard::new();
    heard.arrives(1, 7, NOW);
    heard.arrives(1, 8, NOW);
    assert_eq!(heard.told, [(1, 7), (1, 8)]);
}

#[test]
fn a_hole_that_is_not_filled_in_two_seconds_is_skipped_for_good() {
    let mut heard = Heard::new();
    heard.arrives(1, 0, NOW);
    heard.arrives(1, 2, NOW);
    heard.ticks(NOW.plus_millis(PATIENCE_MS - 1));
    assert_eq!(heard.told, [(1, 0)]);
    heard.ticks(NOW.plus_millis(PATIENCE_MS));
    heard.arrives(1, 1, NOW.plus_millis(PATIENCE_MS));
    assert_eq!(heard.told, [(1, 0), (1, 2)]);
}

#[test]
fn a_session_is_forgotten_soon_after_its_end_and_an_hour_after_its_last_word() {
    let mut heard = Heard::new();
    heard.arrives(1, 0, NOW);
    heard.arrives_as(2, 0, "session.completed", NOW);
    heard.ticks(NOW.plus_millis(OVER_MS));
    assert_eq!(heard.order.sessions(), 1);
    heard.ticks(NOW.plus_millis(FORGOTTEN_MS + OVER_MS));
    assert_eq!(heard.order.sessions(), 0);
}

#[test]
fn a_session_with_a_hole_does_not_grow_without_bound() {
    let mut heard = Heard::new();
    heard.arrives(1, 0, NOW);
    for seq in 2..=(super::MOST_HELD as i64 + 2) {
        heard.arrives(1, seq, NOW);
    }
    assert_eq!(heard.told.len(), super::MOST_HELD + 2);
    assert!(heard.told.is_sorted());
}
