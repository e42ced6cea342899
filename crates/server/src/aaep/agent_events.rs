//! Validates an agent's event by itself, before the session state is checked.

use countersign_engine::Refusal;
use countersign_protocol::aaep::{
    ingest::{IngestedEvent, published},
    problem::MemberProblem,
};
use serde_json::Value;

/// The event, or a refusal that lists every problem with it.
pub(super) fn said(event: &Value) -> Result<IngestedEvent, Refusal> {
    published(event).map_err(|problems| {
        let told: Vec<String> = problems.iter().map(MemberProblem::to_string).collect();
        Refusal::invalid(told.join("; "))
    })
}
