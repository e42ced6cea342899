//! Copies of MPLP documents with one modification each.

use super::documents::{self, ID};
pub(crate) use crate::spoil::Spoiled;
use crate::spoil::every_way;
use serde_json::{Value, json};

/// Modifies a part shared by several documents in one of them only.
pub(crate) fn spoiled(name: &str) -> Vec<Spoiled> {
    let shared = SHARED.iter().filter(|(stands_for_all, _)| *stands_for_all != name).flat_map(|(_, parts)| *parts);
    let shared: Vec<&str> = shared.copied().collect();
    let mut all = every_way(&documents::document(name), &values(), &texts(), &["more"]);
    all.retain(|spoiled| !shared.iter().any(|part| spoiled.what.starts_with(part)));
    all
}

/// Documents, and the shared parts that are modified only there.
const SHARED: [(&str, &[&str]); 3] = [
    ("confirm", &["/meta/created_", "/meta/updated_", "/meta/tags/", "/trace/", "/events/0/", "/governance/"]),
    ("bus-event", &["/project_id", "/payload"]),
    ("learning-sample", &["/sample_id", "/meta/source_", "/meta/project_id", "/meta/human_"]),
];

/// Values that are right somewhere and wrong elsewhere.
fn values() -> Value {
    json!([
        null, true, -1, 0, 1.0, 1.5, 1e20, [], {}, [1], [ID], [ID, ID], ["security", "security"], [{}], { "id": 1 },
        "x", "",
    ])
}

/// Ids, timestamps, versions, event types and enumeration values, right and wrong.
fn texts() -> Value {
    json!([
        "550e8400-e29b-41d4-a716-44665544000f",
        "550E8400-e29b-41d4-a716-446655440004",
        "123e4567-e89b-12d3-a456-426614174000",
        "550e8400-e29b-41d4-c716-446655440004",
        "550e8400e29b41d4a716446655440004",
        "confirm-550e8400-e29b-41d4-a716-446655440004",
        "{550e8400-e29b-41d4-a716-446655440004}",
        "550e8400-e29b-41d4-a716-446655440004\n",
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
        "2.0.0",
        "1.0",
        "1.0.0-rc.1",
        "v1.0.0",
        "plan.created",
        "confirm_requested",
        "Confirm.requested",
        "confirm..requested",
        "confirm.",
        "confirm.2nd",
        "confirm",
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
    ])
}
