//! MPLP: plans and Confirms as views of the decision engine. There is no state machine of its own: a plan's status
//! follows its decision and the executions of its steps.

pub mod allowance;
pub mod bus;
pub mod confirm;
pub mod deviation;
pub mod diff;
pub mod govern;
pub mod import;
pub mod plan;
pub mod progress;
pub mod question;
pub mod roles;
pub mod samples;
mod step_request;
pub mod submit;
pub mod target;
mod texts;
pub mod trace;

use countersign_protocol::{hash::Digest, mplp::MplpId};
use serde_json::{Map, Value};

/// Describes the calls that a standing approval of a tool covers, with all fixed and all released arguments. A route
/// has its owner's description.
pub fn tool_in_words(pattern: &crate::bounded::Pattern) -> Option<String> {
    match pattern.target() {
        crate::bounded::ActionTarget::Tool { name } => Some(texts::of_tool(name, pattern)),
        crate::bounded::ActionTarget::Route { .. } => None,
    }
}

/// The producer named in rendered documents.
pub(crate) const PRODUCER: &str = "countersign";

/// An id derived from its parent: the same each time it is rendered, and never stored.
pub(crate) fn derived(kind: &str, of: &[&str]) -> MplpId {
    let parts: Vec<&str> = std::iter::once(kind).chain(of.iter().copied()).collect();
    MplpId::of_hash(&Digest::of(parts.join("\n").as_bytes()))
}

fn members<const N: usize>(all: [(&str, Value); N]) -> Map<String, Value> {
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
