//! `GET /v1/clarification/list-gaps?session_id=`: the open gaps.

use super::session::SessionId;
use crate::{App, http::answer::Refused, v1::Caller};
use axum::extract::State;
use countersign_protocol::{aap::error::Envelope, clarification::submission::CheckResponse};

#[utoipa::path(
    get,
    path = "/v1/clarification/list-gaps",
    tag = "clarifications",
    summary = "What is open in a session",
    params(("session_id" = String, Query, description = "session_id of the session")),
    responses((status = 200, description = "The open gaps, with the signed message", body = CheckResponse), (status = "4XX", description = "Refused: the envelope says why and what to do", body = Envelope), (status = "5XX", description = "Trouble on our side", body = Envelope)),
    security(("bearer" = []))
)]
pub(crate) async fn get(
    State(app): State<App>,
    Caller { at, agent, .. }: Caller,
    SessionId(id): SessionId,
) -> Result<axum::Json<CheckResponse>, Refused> {
    Ok(axum::Json(app.engine.clarify_gaps(&at, &agent, &id).await?))
}
