//! `GET /v1/clarification/handoff?session_id=`: the document with which another agent continues (Clarification 9,
//! W-28).

use super::session::SessionId;
use crate::{App, http::answer::RefusalResponse, v1::AgentCaller};
use axum::extract::State;
use countersign_protocol::{aap::error::ErrorEnvelope, clarification::Handoff};

#[utoipa::path(
    get,
    path = "/v1/clarification/handoff",
    tag = "clarifications",
    summary = "The handoff to another agent, with all questions and answers",
    params(("session_id" = String, Query, description = "session_id of the session")),
    responses((status = 200, description = "Signed, with the whole record; with the plan once it is confirmed", body = Handoff), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn get(
    State(app): State<App>,
    AgentCaller { at, agent, .. }: AgentCaller,
    SessionId(id): SessionId,
) -> Result<axum::Json<Handoff>, RefusalResponse> {
    Ok(axum::Json(app.engine.clarifications().clarify_handoff(&at, &agent, &id).await?))
}
