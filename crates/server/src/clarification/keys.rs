//! `GET /v1/clarification/keys`: the project's public keys for clarification, for verifiers (W-19).

use crate::{
    App,
    http::{answer::RefusalResponse, at::AtProject},
};
use axum::extract::State;
use countersign_protocol::{aap::error::ErrorEnvelope, clarification::PublishedKeys};

#[utoipa::path(
    get,
    path = "/v1/clarification/keys",
    tag = "clarifications",
    summary = "The registered keys for verifiers",
    responses((status = 200, description = "Oldest first, with each old key's signature for the next one", body = PublishedKeys), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope))
)]
pub(crate) async fn get(
    State(app): State<App>,
    AtProject(at): AtProject,
) -> Result<axum::Json<PublishedKeys>, RefusalResponse> {
    Ok(axum::Json(app.engine.clarifications().published_clarification_keys(&at).await?))
}
