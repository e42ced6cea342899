//! A whole event as somebody emits it: what a subscriber, and every test of ours, holds against it.

pub use super::problem::Problem;
use super::{judge, shape::Stage};
use serde_json::Value;

/// Everything that is wrong with it: all that is refused at ingest, and what must be there by the time it is emitted,
/// language and urgency included (C8). Stricter than the published schemas, as strict as ours.
pub fn event(value: &Value) -> Vec<Problem> {
    judge::judge(value, Stage::Emitted).err().unwrap_or_default()
}
