//! `GET /v1/clarification/list-gaps?session_id=`: the open gaps.

use super::session::SessionId;
use crate::{App, http::answer::RefusalResponse, v1::AgentCaller};
use axum::extract::State;
use countersign_protocol::{aap::error::ErrorEnvelope, clarification::submission::CheckResponse};

#[utoipa::path(
    get,
    path = "/v1/clarification/list-gaps",
    tag = "clarifications",
    summary = "The open gaps of a session",
    params(("session_id" = String, Query, description = "session_id of the session")),
    responses((status = 200, description = "The open gaps, with the signed message", body = CheckResponse), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn get(
    State(app): State<App>,
    AgentCaller { at, agent, .. }: AgentCaller,
    SessionId(id): SessionId,
) -> Result<axum::Json<CheckResponse>, RefusalResponse> {
    Ok(axum::Json(app.engine.clarifications().clarify_gaps(&at, &agent, &id).await?))
}
