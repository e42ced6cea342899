//! MPLP: plans and Confirms as views of the decision engine. No state machine of its own: a plan's status follows the
//! decision about it and the executions of its steps.

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
pub mod trace;
mod words;

use countersign_protocol::{hash::Digest, mplp::MplpId};

/// What a yes for calls of a tool lets run, with everything that is fixed and everything that is open. A route has its
/// owner's words.
pub fn tool_in_words(pattern: &crate::bounded::Pattern) -> Option<String> {
    match pattern.what() {
        crate::bounded::What::Tool { name } => Some(words::of_tool(name, pattern)),
        crate::bounded::What::Route { .. } => None,
    }
}

/// Who makes the documents that are rendered here.
pub(crate) const PRODUCER: &str = "countersign";

/// An id that follows from what it belongs to: the same whenever it is rendered, and stored nowhere.
pub(crate) fn derived(kind: &str, of: &[&str]) -> MplpId {
    let parts: Vec<&str> = std::iter::once(kind).chain(of.iter().copied()).collect();
    MplpId::of_hash(&Digest::of(parts.join("\n").as_bytes()))
}
