//! The platform as an operator: `agent-identity.json` and `agent-jwks.json` (AAP 3.1, C-71).
//!
//! The same for every project and on every host: keys belong to the installation.

use crate::{App, http::answer::Refused};
use axum::{Json, extract::State};
use countersign_engine::Refusal;
use countersign_protocol::aap::jwks::Jwks;
use serde_json::{Value, json};

pub(super) async fn manifest(State(app): State<App>) -> Json<Value> {
    let origin = &app.engine.settings().origin;
    let host = origin.host();
    Json(json!({
        "operator": "Countersign",
        "domain": host,
        "contact": format!("security@{host}"),
        "signing_keys": format!("{origin}/.well-known/agent-jwks.json"),
    }))
}

pub(super) async fn keys(State(app): State<App>) -> Result<Json<Jwks>, Refused> {
    let keys = app.engine.keys().ok_or(Refusal::Unavailable)?;
    Ok(Json(keys.jwks.clone()))
}
