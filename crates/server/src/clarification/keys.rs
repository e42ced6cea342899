//! `GET /v1/clarification/keys`: the project's public keys for clarification, for verifiers (W-19).

use crate::{
    App,
    http::{answer::Refused, at::At},
};
use axum::extract::State;
use countersign_protocol::{aap::error::Envelope, clarification::PublishedKeys};

#[utoipa::path(
    get,
    path = "/v1/clarification/keys",
    tag = "clarifications",
    summary = "The registered keys for verifiers",
    responses((status = 200, description = "Oldest first, with each old key's signature for the next one", body = PublishedKeys), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = Envelope), (status = "5XX", description = "Server error", body = Envelope))
)]
pub(crate) async fn get(State(app): State<App>, At(at): At) -> Result<axum::Json<PublishedKeys>, Refused> {
    Ok(axum::Json(app.engine.published_clarification_keys(&at).await?))
}
