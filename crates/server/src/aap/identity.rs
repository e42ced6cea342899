//! The platform as an operator: `agent-identity.json` and `agent-jwks.json` (AAP 3.1, C-71).
//!
//! The same for every project and on every host: keys belong to the installation.

use crate::{
    App,
    http::answer::{ErrorResponses, RefusalResponse},
};
use axum::{Json, extract::State, response::IntoResponse};
use countersign_engine::Refusal;
use countersign_protocol::aap::jwks::Jwks;
use http::{HeaderName, header};
use serde_json::json;

/// How long a reader may cache these documents: a replaced key stays published for longer.
const KEPT_FOR: [(HeaderName, &str); 1] = [(header::CACHE_CONTROL, "public, max-age=300")];

#[utoipa::path(
    get, path = "/.well-known/agent-identity.json", tag = "discovery",
    summary = "The platform as an operator",
    responses((status = 200, description = "The identity manifest", body = serde_json::Value), ErrorResponses),
)]
pub(crate) async fn manifest(State(app): State<App>) -> impl IntoResponse {
    let origin = &app.engine.settings().origin;
    let host = origin.host();
    let identity = json!({
        "operator": "Countersign",
        "domain": host,
        "contact": format!("security@{host}"),
        "signing_keys": format!("{origin}/.well-known/agent-jwks.json"),
    });
    (KEPT_FOR, Json(identity))
}

#[utoipa::path(
    get, path = "/.well-known/agent-jwks.json", tag = "discovery",
    summary = "The service's signing keys",
    responses((status = 200, description = "The key set", body = Jwks), ErrorResponses),
)]
pub(crate) async fn keys(State(app): State<App>) -> Result<impl IntoResponse, RefusalResponse> {
    let keys = app.engine.keys().ok_or(Refusal::Unavailable)?;
    Ok((KEPT_FOR, Json(keys.jwks.clone())))
}
