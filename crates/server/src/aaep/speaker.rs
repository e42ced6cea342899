//! Who speaks: an agent with its API key or its access token, as everywhere.

use crate::{App, http::asker::bearer};
use countersign_engine::{Agent, ProjectAt, Refusal};
use countersign_protocol::aaep::{
    ingest::{Published, published},
    problem::Problem,
};
use http::HeaderMap;
use serde_json::Value;

pub(super) async fn speaker(app: &App, at: &ProjectAt, headers: &HeaderMap) -> Result<Agent, Refusal> {
    let token = bearer(headers).ok_or(Refusal::NoCredentials)?;
    app.engine.agent(at, &token).await
}

/// An event as the agent may say it, or everything that is wrong with it.
pub(super) fn said(event: &Value) -> Result<Published, Refusal> {
    published(event).map_err(|problems| {
        let told: Vec<String> = problems.iter().map(Problem::to_string).collect();
        Refusal::invalid(told.join("; "))
    })
}
