//! `GET /aaep/v1/events`: the events of a subscription, as an SSE stream (C16, C17).

use super::{listener::listener, sse};
use crate::{
    App,
    http::{answer::RefusalResponse, at::AtProject, caller::Asker, request_id::RequestId},
    serve::ClientConnection,
};
use axum::{
    extract::{Query, State, rejection::QueryRejection},
    response::Response,
};
use countersign_engine::Refusal;
use countersign_protocol::aap::error::ErrorEnvelope;
use http::HeaderMap;

#[derive(serde::Deserialize)]
pub(crate) struct EventsQuery {
    subscription_id: Option<String>,
}

#[utoipa::path(
    get,
    path = "/aaep/v1/events",
    tag = "subscribers",
    summary = "The events of a subscription, as they happen",
    description = "A stream of server-sent events that stays open: each has the name aaep.event, its event_id as id and one line of JSON as data. A comment is sent every ten seconds. A broken stream continues after Last-Event-ID; if that is no longer known, the current state is sent again. A second stream of the same subscription ends the first. A last event named aaep.close has the reason for the end of the subscription.",
    params(("subscription_id" = String, Query, description = "The id from subscription.accepted"), ("Last-Event-ID" = Option<String>, Header, description = "The id of the last received event")),
    responses((status = 200, description = "The stream", body = String, content_type = "text/event-stream"), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("session" = []), ("bearer" = []))
)]
pub(crate) async fn get(
    State(app): State<App>,
    AtProject(at): AtProject,
    id: RequestId,
    asker: Asker,
    on: ClientConnection,
    asked: Result<Query<EventsQuery>, QueryRejection>,
) -> Result<Response, RefusalResponse> {
    let listener = match listener(&app, &at, &asker).await {
        Ok(listener) => listener,
        Err(why) => return Ok(why.response(&id)),
    };
    let Query(asked) = asked.map_err(|_| Refusal::invalid("the query could not be read"))?;
    let subscription = asked.subscription_id.ok_or_else(|| Refusal::invalid("subscription_id is required"))?;
    let last = last_event_id(&asker.headers);
    let events = app.engine.events().stream(&at, &listener, &subscription, last).await?;
    Ok(sse::response(sse::frames(events, subscription), sse::Style::Named, on))
}

/// The id of the last event the client received; `None` on a first connection.
pub(super) fn last_event_id(headers: &HeaderMap) -> Option<&str> {
    headers.get("last-event-id").and_then(|v| v.to_str().ok()).filter(|id| !id.is_empty())
}
