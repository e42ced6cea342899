//! The Agent Clarification Protocol at `/v1/clarification`, at the unscoped paths and under `/projects/{projectId}`: an
//! agent submits its plan, receives the gaps, answers them or lets a person answer, and confirms. The handlers make no
//! decisions. A gap is a normal response; only a failure is an error.

mod caller;
pub(crate) mod documents;
pub(crate) mod keys;
pub(crate) mod proofs;
pub(crate) mod sessions;

use crate::{App, http::layers};
use axum::{
    Router, middleware,
    response::IntoResponse,
    routing::{get, post},
};
use http::header;

const SCHEMA: &str = include_str!("../../../../docs/schemas/clarification/message.json");

pub(crate) fn router() -> Router<App> {
    Router::new()
        .merge(endpoints())
        .nest("/projects/{projectId}", endpoints())
        .route("/specs/clarification-protocol.json", get(schema))
}

fn endpoints() -> Router<App> {
    Router::new()
        .route("/v1/clarification/submit-clarification", post(sessions::submit))
        .route("/v1/clarification/resolve-gap", post(sessions::resolve))
        .route("/v1/clarification/list-gaps", get(sessions::list_gaps))
        .route("/v1/clarification/session-status", get(sessions::status))
        .route("/v1/clarification/confirm-plan", post(sessions::confirm))
        .route("/v1/clarification/abandon", post(sessions::abandon))
        .route("/v1/clarification/audit", get(proofs::audit))
        .route("/v1/clarification/scaffold-plan", post(proofs::scaffold_plan))
        .route("/v1/clarification/attest", post(proofs::attest))
        .route("/v1/clarification/handoff", get(proofs::handoff))
        .route("/v1/clarification/keys", get(keys::published))
        .route("/v1/clarification/rotate-key", post(keys::rotate))
        .layer(middleware::map_response(layers::keep_nothing))
}

/// The schema that every message names, as published by Countersign (W-30).
#[utoipa::path(
    get, path = "/specs/clarification-protocol.json", tag = "discovery",
    summary = "The JSON Schema of clarification messages",
    responses((status = 200, description = "The schema", body = serde_json::Value)),
)]
pub(crate) async fn schema() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/schema+json")], SCHEMA)
}
