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
    summary = "The keys that a verifier takes as known",
    responses((status = 200, description = "Oldest first, with what each old key said about the next", body = PublishedKeys), (status = "4XX", description = "Refused: the envelope says why and what to do", body = Envelope), (status = "5XX", description = "Trouble on our side", body = Envelope))
)]
pub(crate) async fn get(State(app): State<App>, At(at): At) -> Result<axum::Json<PublishedKeys>, Refused> {
    Ok(axum::Json(app.engine.published_clarification_keys(&at).await?))
}
