//! Copies of a document with one modification each.

use serde_json::{Value, json};

/// A modified document and a description of the modification.
pub(crate) struct Spoiled {
    pub(crate) what: String,
    pub(crate) document: Value,
}

/// Modifies the shared envelope for one event type only; all types have the same envelope.
pub(crate) fn spoiled(name: &str, sound: &Value) -> Vec<Spoiled> {
    let all = every_way(sound);
    let of_the_envelope = |what: &str| ENVELOPE.iter().any(|member| what.starts_with(&format!("/{member}")));
    let stands_for_all = name == "agent.session.started" || !name.starts_with("agent.");
    all.into_iter().filter(|spoiled| stands_for_all || !of_the_envelope(&spoiled.what)).collect()
}

const ENVELOPE: &[&str] = &[
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

/// Removes each member, replaces it with every wrong (and some right) value, and adds a member to each object.
fn every_way(sound: &Value) -> Vec<Spoiled> {
    let mut all = Vec::new();
    for place in places(sound, "") {
        all.extend(removed(sound, &place));
        let held = sound.pointer(&place).unwrap();
        all.extend(values(held).iter().map(|value| replaced(sound, &place, value)));
        if held.is_array() {
            all.push(lengthened(sound, &place));
        }
    }
    let objects = places(sound, "").into_iter().filter(|place| sound.pointer(place).is_some_and(Value::is_object));
    for place in objects.chain([String::new()]) {
        all.push(added(sound, &place, "amount_raw"));
        all.push(added(sound, &place, "@id"));
    }
    all
}

/// Values that are right somewhere and wrong elsewhere; more texts in place of a text.
fn values(instead_of: &Value) -> Vec<Value> {
    let mut values = vec![
        json!(null),
        json!(true),
        json!(-1),
        json!(0),
        json!(1.0),
        json!(1.5),
        json!(86_401),
        json!(86_400_001),
        json!(1e20),
        json!([]),
        json!({}),
        json!([1]),
        json!(["accept"]),
        json!(["accept", "accept"]),
        json!({ "a": 1 }),
        json!({ "a": {} }),
        json!({ "aaep": {} }),
        json!("x"),
        json!(""),
    ];
    if instead_of.is_string() {
        values.extend(TEXTS.iter().map(|text| json!(text)));
        values.extend([65, 257, 1025, 4097, 16384, 16385].map(|length| json!("ö".repeat(length))));
    }
    values
}

const TEXTS: &[&str] = &[
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
];

fn places(value: &Value, at: &str) -> Vec<String> {
    let below: Vec<(String, &Value)> = match value {
        Value::Object(members) => members.iter().map(|(n, v)| (format!("{at}/{}", n.replace('/', "~1")), v)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(n, v)| (format!("{at}/{n}"), v)).collect(),
        _ => Vec::new(),
    };
    below.into_iter().flat_map(|(place, value)| [vec![place.clone()], places(value, &place)].concat()).collect()
}

fn removed(sound: &Value, place: &str) -> Option<Spoiled> {
    let mut document = sound.clone();
    let (parent, member) = place.rsplit_once('/').unwrap();
    document.pointer_mut(parent).unwrap().as_object_mut()?.remove(member);
    Some(Spoiled { what: format!("{place} taken away"), document })
}

fn replaced(sound: &Value, place: &str, value: &Value) -> Spoiled {
    let mut document = sound.clone();
    *document.pointer_mut(place).unwrap() = value.clone();
    let told: String = value.to_string().chars().take(60).collect();
    Spoiled { what: format!("{place} = {told}"), document }
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

fn added(sound: &Value, place: &str, name: &str) -> Spoiled {
    let mut document = sound.clone();
    document.pointer_mut(place).unwrap()[name] = json!(1);
    Spoiled { what: format!("{place}/{name} added"), document }
}
