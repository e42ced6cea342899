//! Size limits of events (AAEP 3.7).

use super::{problem::MemberProblem, shape::Stage};
use serde_json::{Map, Value};

/// The serialised event, in bytes.
pub const MAX_EVENT: usize = 64 * 1024;
/// Reserve for the members that the hub adds: ids, times, names. Without it an event could exceed its limit on
/// emission, when its sender can no longer be told.
const STAMPED: usize = 2 * 1024;
const MAX_MEMBERS: usize = 32;
const MAX_NESTING: usize = 8;
/// Any one string, in characters as in the schemas: bytes would leave some scripts a third of the room.
const MAX_STRING: usize = 16 * 1024;

pub(super) fn check(event: &Map<String, Value>, stage: Stage, found: &mut Vec<MemberProblem>) {
    let room = if stage == Stage::Published { MAX_EVENT - STAMPED } else { MAX_EVENT };
    if serde_json::to_vec(event).map_or(true, |bytes| bytes.len() > room) {
        found.push(MemberProblem::new("event", format!("must not be over {room} bytes")));
    }
    if event.len() > MAX_MEMBERS {
        found.push(MemberProblem::new("event", format!("must not have over {MAX_MEMBERS} members")));
    }
    for (name, value) in event {
        if !within(value, MAX_NESTING) {
            found.push(MemberProblem::new(name.clone(), format!("must not nest deeper than {MAX_NESTING} levels")));
        } else if has_long_string(value) {
            found.push(MemberProblem::new(
                name.clone(),
                format!("must not hold a text of over {MAX_STRING} characters"),
            ));
        }
    }
}

fn within(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels > 0 && items.iter().all(|item| within(item, levels - 1)),
        Value::Object(members) => levels > 0 && members.values().all(|member| within(member, levels - 1)),
        _ => true,
    }
}

fn has_long_string(value: &Value) -> bool {
    match value {
        Value::String(text) => is_long(text),
        Value::Array(items) => items.iter().any(has_long_string),
        Value::Object(members) => members.iter().any(|(name, value)| is_long(name) || has_long_string(value)),
        _ => false,
    }
}

fn is_long(text: &str) -> bool {
    text.len() > MAX_STRING && text.chars().count() > MAX_STRING
}
