//! What an agent says, before it is known whether it may say it now.

use countersign_engine::Refusal;
use countersign_protocol::aaep::{
    ingest::{Published, published},
    problem::Problem,
};
use serde_json::Value;

/// An event as an agent may say it, or everything that is wrong with it.
pub(super) fn said(event: &Value) -> Result<Published, Refusal> {
    published(event).map_err(|problems| {
        let told: Vec<String> = problems.iter().map(Problem::to_string).collect();
        Refusal::invalid(told.join("; "))
    })
}
