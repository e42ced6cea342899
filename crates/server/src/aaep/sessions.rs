//! `POST /aaep/v1/sessions`: an agent opens an AAEP session (AAEP 4.1).

use super::{agent_events::said, message};
use crate::{
    App,
    http::{answer::RefusalResponse, request_id::RequestId},
    v1::AgentCaller,
};
use axum::{
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use countersign_protocol::{
    aap::error::ErrorEnvelope,
    time::{UnixMillis, rfc3339},
};
use http::StatusCode;

/// An open AAEP session.
#[derive(serde::Serialize, utoipa::ToSchema)]
pub(crate) struct OpenedAaepSession {
    session_id: String,
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    opened_at: UnixMillis,
    /// The path for the events that follow.
    events: String,
}

#[utoipa::path(
    post,
    path = "/aaep/v1/sessions",
    tag = "agents",
    summary = "Begin an AAEP session with its session.started event",
    description = "The body is an aaep:agent.session.started event. The hub sets ids, times and the producer; sent values are ignored.",
    request_body(content = Object, description = "An aaep:agent.session.started event"),
    responses((status = 201, description = "The session is open", body = OpenedAaepSession), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn post(
    State(app): State<App>,
    AgentCaller { at, agent, .. }: AgentCaller,
    id: RequestId,
    request: Request,
) -> Result<Response, RefusalResponse> {
    let event = match message::read(request).await {
        Ok(event) => event,
        Err(why) => return Ok(why.response(&id)),
    };
    let session = app.engine.events().open_aaep_session(&at, &agent, said(&event)?).await?;
    let events = format!("{}/aaep/v1/sessions/{}/events", at.prefix(), session.id);
    let opened = OpenedAaepSession { session_id: session.id, opened_at: session.opened_at, events };
    Ok((StatusCode::CREATED, axum::Json(opened)).into_response())
}
