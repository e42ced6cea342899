//! The Agent Clarification Protocol at `/v1/clarification`, at the unscoped paths and under `/projects/{projectId}`: an
//! agent submits its plan, receives the gaps, answers them or lets a person answer, and confirms. The handlers make no
//! decisions. A gap is a normal response; only a failure is an error.

pub(crate) mod abandon;
pub(crate) mod attest;
pub(crate) mod audit;
mod caller;
pub(crate) mod confirm_plan;
pub(crate) mod handoff;
pub(crate) mod keys;
pub(crate) mod list_gaps;
mod requests;
pub(crate) mod resolve_gap;
pub(crate) mod responses;
pub(crate) mod rotate_key;
pub(crate) mod scaffold_plan;
pub(crate) mod schema;
mod session;
pub(crate) mod session_status;
pub(crate) mod submit_clarification;

use crate::{App, http::layers};
use axum::{
    Router, middleware,
    routing::{get, post},
};

pub(crate) fn router() -> Router<App> {
    Router::new()
        .merge(endpoints())
        .nest("/projects/{projectId}", endpoints())
        .route("/specs/clarification-protocol.json", get(schema::get))
}

fn endpoints() -> Router<App> {
    Router::new()
        .route("/v1/clarification/submit-clarification", post(submit_clarification::post))
        .route("/v1/clarification/resolve-gap", post(resolve_gap::post))
        .route("/v1/clarification/list-gaps", get(list_gaps::get))
        .route("/v1/clarification/session-status", get(session_status::get))
        .route("/v1/clarification/confirm-plan", post(confirm_plan::post))
        .route("/v1/clarification/abandon", post(abandon::post))
        .route("/v1/clarification/audit", get(audit::get))
        .route("/v1/clarification/scaffold-plan", post(scaffold_plan::post))
        .route("/v1/clarification/attest", post(attest::post))
        .route("/v1/clarification/handoff", get(handoff::get))
        .route("/v1/clarification/keys", get(keys::get))
        .route("/v1/clarification/rotate-key", post(rotate_key::post))
        .layer(middleware::map_response(layers::keep_nothing))
}
