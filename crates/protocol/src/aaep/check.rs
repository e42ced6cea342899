//! Validates a complete emitted event; used by subscribers and by our tests.

pub use super::problem::MemberProblem;
use super::{judge, shape::Stage};
use serde_json::Value;

/// All problems of an emitted event: the ingest rules, plus the members required on emission, including language and
/// urgency (C8). Stricter than the published schemas, as strict as ours.
pub fn event(value: &Value) -> Vec<MemberProblem> {
    judge::judge(value, Stage::Emitted).err().unwrap_or_default()
}
