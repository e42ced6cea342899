//! Copies of a document with one modification each.

use super::documents::{self, ID};
use serde_json::{Value, json};

/// A modified document and a description of the modification.
pub(crate) struct Spoiled {
    pub(crate) what: String,
    pub(crate) document: Value,
}

/// Modifies a part shared by several documents in one of them only.
pub(crate) fn spoiled(name: &str) -> Vec<Spoiled> {
    let shared = SHARED.iter().filter(|(stands_for_all, _)| *stands_for_all != name).flat_map(|(_, parts)| *parts);
    let shared: Vec<&str> = shared.copied().collect();
    let mut all = every_way(&documents::document(name));
    all.retain(|spoiled| !shared.iter().any(|part| spoiled.what.starts_with(part)));
    all
}

/// Documents, and the shared parts that are modified only there.
const SHARED: [(&str, &[&str]); 3] = [
    ("confirm", &["/meta/created_", "/meta/updated_", "/meta/tags/", "/trace/", "/events/0/", "/governance/"]),
    ("bus-event", &["/project_id", "/payload"]),
    ("learning-sample", &["/sample_id", "/meta/source_", "/meta/project_id", "/meta/human_"]),
];

/// Removes each member, replaces it with every wrong (and some right) value, and adds a member to each object.
fn every_way(sound: &Value) -> Vec<Spoiled> {
    let mut all = Vec::new();
    for place in places(sound, "") {
        all.extend(removed(sound, &place));
        let held = sound.pointer(&place).unwrap();
        all.extend(values(held).into_iter().map(|value| replaced(sound, &place, value)));
        if held.is_object() {
            all.push(replaced(sound, &format!("{place}/more"), json!(1)));
        }
    }
    all.push(replaced(sound, "/more", json!(1)));
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
        json!(1e20),
        json!([]),
        json!({}),
        json!([1]),
        json!([ID]),
        json!([ID, ID]),
        json!(["security", "security"]),
        json!([{}]),
        json!({ "id": 1 }),
        json!("x"),
        json!(""),
    ];
    if instead_of.is_string() {
        values.extend(TEXTS.iter().map(|text| json!(text)));
    }
    values
}

const TEXTS: &[&str] = &[
    // ids
    "550e8400-e29b-41d4-a716-44665544000f",
    "550E8400-e29b-41d4-a716-446655440004",
    "123e4567-e89b-12d3-a456-426614174000",
    "550e8400-e29b-41d4-c716-446655440004",
    "550e8400e29b41d4a716446655440004",
    "confirm-550e8400-e29b-41d4-a716-446655440004",
    "{550e8400-e29b-41d4-a716-446655440004}",
    "550e8400-e29b-41d4-a716-446655440004\n",
    // timestamps
    "2025-12-07",
    "2025-12-07T00:00:00",
    "2025-12-07T00:00Z",
    "2025-12-07T00:00:00.5Z",
    "2025-12-07T00:00:00.123456789123-05:30",
    "2025-12-07t00:00:00z",
    "2025-12-07 00:00:00Z",
    "2025-12-07T24:00:00Z",
    "2025-12-07T00:00:00+24:00",
    "2025-12-31T23:59:60Z",
    "2025-02-29T00:00:00Z",
    "2024-02-29T00:00:00Z",
    "2025-12-07T00:00:00Z\n",
    // versions
    "2.0.0",
    "1.0",
    "1.0.0-rc.1",
    "v1.0.0",
    // event types
    "plan.created",
    "confirm_requested",
    "Confirm.requested",
    "confirm..requested",
    "confirm.",
    "confirm.2nd",
    "confirm",
    // enumeration values
    "pending",
    "cancelled",
    "canceled",
    "in_progress",
    "pending_approval",
    "override",
    "skipped",
    "blocked",
    "other",
    "step",
    "delta",
    "error-handling",
    "error_handling",
    "network",
    "pipeline_stage",
    "bulk",
    "llm",
    "not_reviewed",
    "poor",
    "bad",
];

fn places(value: &Value, at: &str) -> Vec<String> {
    let below: Vec<(String, &Value)> = match value {
        Value::Object(members) => members.iter().map(|(n, v)| (format!("{at}/{n}"), v)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(n, v)| (format!("{at}/{n}"), v)).collect(),
        _ => Vec::new(),
    };
    below.into_iter().flat_map(|(place, value)| [vec![place.clone()], places(value, &place)].concat()).collect()
}

fn removed(sound: &Value, place: &str) -> Option<Spoiled> {
    let in_a_list = place.rsplit_once('/').unwrap().1.parse::<usize>().is_ok();
    (!in_a_list)
        .then(|| Spoiled { what: format!("{place} taken away"), document: documents::without(sound.clone(), place) })
}

fn replaced(sound: &Value, place: &str, value: Value) -> Spoiled {
    Spoiled { what: format!("{place} = {value}"), document: documents::with(sound.clone(), place, value) }
}
