//! `GET /v1/clarification/session-status?session_id=`: the progress of a session.

use super::session::SessionId;
use crate::{App, http::answer::RefusalResponse, v1::AgentCaller};
use axum::extract::State;
use countersign_protocol::{aap::error::ErrorEnvelope, clarification::submission::StatusResponse};

#[utoipa::path(
    get,
    path = "/v1/clarification/session-status",
    tag = "clarifications",
    summary = "The progress of a session",
    params(("session_id" = String, Query, description = "session_id of the session")),
    responses((status = 200, description = "Its state and its counts", body = StatusResponse), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn get(
    State(app): State<App>,
    AgentCaller { at, agent, .. }: AgentCaller,
    SessionId(id): SessionId,
) -> Result<axum::Json<StatusResponse>, RefusalResponse> {
    Ok(axum::Json(app.engine.clarifications().clarify_status(&at, &agent, &id).await?))
}
