//! Validates an agent's event by itself, before the session state is checked.

use countersign_engine::Refusal;
use countersign_protocol::aaep::{
    ingest::{Published, published},
    problem::Problem,
};
use serde_json::Value;

/// The event, or a refusal that lists every problem with it.
pub(super) fn said(event: &Value) -> Result<Published, Refusal> {
    published(event).map_err(|problems| {
        let told: Vec<String> = problems.iter().map(Problem::to_string).collect();
        Refusal::invalid(told.join("; "))
    })
}
