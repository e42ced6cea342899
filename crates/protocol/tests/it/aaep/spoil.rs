//! Copies of events and messages with one modification each.

pub(crate) use crate::spoil::Spoiled;
use crate::spoil::{every_way, places};
use serde_json::{Value, json};

/// Modifies the shared envelope for one event type only; all types have the same envelope.
pub(crate) fn spoiled(name: &str, sound: &Value) -> Vec<Spoiled> {
    let is_shared = |what: &str| ENVELOPE.iter().any(|member| what.starts_with(&format!("/{member}")));
    let stands_for_all = name == "agent.session.started" || !name.starts_with("agent.");
    let lists = places(sound, "").into_iter().filter(|place| sound.pointer(place).is_some_and(Value::is_array));
    let longer = lists.map(|place| lengthened(sound, &place));
    let all = every_way(sound, &values(), &texts(), &["amount_raw", "@id"]).into_iter().chain(longer);
    all.filter(|spoiled| stands_for_all || !is_shared(&spoiled.what)).collect()
}

const ENVELOPE: [&str; 12] = [
    "@context",
    "event_id",
    "session_id",
    "timestamp",
    "producer",
    "aaep_version",
    "sequence_number",
    "verbosity",
    "localization_hints",
    "correlation_id",
    "extensions",
    "summary_",
];

/// Values that are right somewhere and wrong elsewhere.
fn values() -> Value {
    json!([
        null, true, -1, 0, 1.0, 1.5, 86_401, 86_400_001, 1e20, [], {}, [1], ["accept"], ["accept", "accept"],
        { "a": 1 }, { "a": {} }, { "aaep": {} }, "x", "",
    ])
}

fn texts() -> Value {
    let long = |length: usize| "ö".repeat(length);
    json!([
        "en",
        "en_US",
        "accept",
        "high",
        "critical",
        "https://aaep-protocol.org/context/v1",
        "https://shop.example/a b",
        "rpl_1",
        "rpl_1\n",
        "rpl_",
        "evt_1-2",
        "1.0.0-rc.1",
        "2026-11-15T12:00:00.1Z",
        "2026-11-15T12:00:00.123456+02:00",
        "2026-11-15T25:00:00Z",
        "a_reason",
        "aaep:agent.session.started",
        "https://aaep-protocol.org/types/agent.session.started",
        long(65),
        long(257),
        long(1025),
        long(4097),
        long(16384),
        long(16385),
    ])
}

/// The list with many more distinct entries.
fn lengthened(sound: &Value, place: &str) -> Spoiled {
    let mut document = sound.clone();
    let items = document.pointer_mut(place).unwrap().as_array_mut().unwrap();
    let first = items.first().cloned();
    for n in 0..40 {
        items.push(match &first {
            Some(Value::Object(_)) => json!({ "value": format!("v{n}"), "label": "l" }),
            _ => json!(format!("x{n}")),
        });
    }
    Spoiled { what: format!("{place} with 40 more"), document }
}
