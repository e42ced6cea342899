//! One validator for events: as published by agents, and as emitted (AAEP 3.9).

pub use super::problem::MemberProblem;
use super::{
    extension, limits, members, rules, secrets,
    shape::{self, ShapeMember, Stage},
};
use serde_json::{Map, Value};

/// All problems of an emitted event: the ingest rules, plus the members required on emission, including language and
/// urgency (C8). Stricter than the published schemas, as strict as ours.
pub fn event(value: &Value) -> Vec<MemberProblem> {
    judge(value, Stage::Emitted).err().unwrap_or_default()
}

/// A valid event, with the payload members of its type.
pub(super) struct Sound<'v> {
    pub(super) event: &'v Map<String, Value>,
    pub(super) type_name: String,
    pub(super) payload: &'static [ShapeMember],
}

/// All problems, in the order of AAEP 3.9: envelope, type, payload, extensions, size.
pub(super) fn judge(value: &Value, stage: Stage) -> Result<Sound<'_>, Vec<MemberProblem>> {
    let Some(event) = value.as_object() else { return Err(vec![MemberProblem::new("event", "must be an object")]) };
    let mut found = Vec::new();
    shape::check(members::ENVELOPE, event, stage, &mut found);
    let type_name = type_name(event, stage);
    let Some(payload) = members::payload(&type_name) else {
        found.push(MemberProblem::new("type", "must be one of the twelve core types"));
        return Err(found);
    };
    shape::check(payload, event, stage, &mut found);
    let known = |name: &str| members::ENVELOPE.iter().chain(payload).any(|member| member.name == name);
    found.extend(rules::strays(known, event, stage));
    rules::check(&type_name, event, &mut found);
    extension::check(event, &mut found);
    limits::check(event, stage, &mut found);
    secrets::check(event, &mut found);
    if found.is_empty() { Ok(Sound { event, type_name, payload }) } else { Err(found) }
}

/// The compact form. Agents may write the equivalent full form; emitted events may not (C7).
fn type_name(event: &Map<String, Value>, stage: Stage) -> String {
    let written = event.get("type").and_then(Value::as_str).unwrap_or_default();
    match written.strip_prefix("https://aaep-protocol.org/types/") {
        Some(name) if stage == Stage::Published => format!("aaep:{name}"),
        _ => written.to_owned(),
    }
}
