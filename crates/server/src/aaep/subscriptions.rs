//! A subscription: its handshake (AAEP 5) and the stream of its events (C16, C17).

use super::{
    listener::listener,
    message,
    rejected::{Rejected, malformed},
    sse,
};
use crate::{
    App,
    http::{
        answer::{ErrorResponses, RefusalResponse},
        at::AtProject,
        caller::Asker,
        request_id::RequestId,
    },
    serve::ClientConnection,
};
use axum::{
    extract::{Query, Request, State, rejection::QueryRejection},
    response::{IntoResponse, Response},
};
use countersign_engine::Refusal;
use countersign_protocol::aaep::handshake::SubscriptionRequest;
use http::{HeaderMap, HeaderValue, StatusCode, header};

/// The handshake (AAEP 5). Every negative response is a `subscription.rejected` (S2).
#[utoipa::path(
    post, path = "/aaep/v1/subscriptions", tag = "subscribers", security(("session" = []), ("bearer" = [])),
    request_body(content = Object, description = "A subscription.request"),
    summary = "Subscribe to the events and questions of agents",
    description = "A subscription.request of AAEP 1.0. Location is the address of its events. Every refusal is a subscription.rejected document.",
    params(("X-CSRF-Token" = Option<String>, Header, description = "Required with a sign-in session")),
    responses((status = 201, description = "A subscription.accepted; Location is the stream of its events", body = Object), (status = "4XX", description = "A subscription.rejected with the reason", body = Object), (status = "5XX", description = "A subscription.rejected: server error", body = Object)),
)]
pub(crate) async fn subscribe(
    State(app): State<App>,
    AtProject(at): AtProject,
    asker: Asker,
    request: Request,
) -> Response {
    let subscribed = async {
        let listener = listener(&app, &at, &asker).await?;
        let message = message::read(request).await?;
        let asked = SubscriptionRequest::parse(&message).map_err(malformed)?;
        Ok::<_, Rejected>(app.engine.events().subscribe(&at, &listener, &asked).await?)
    };
    match subscribed.await {
        Err(rejected) => rejected.into_response(),
        Ok(accepted) => {
            let place = format!("{}/aaep/v1/events?subscription_id={}", at.prefix(), accepted.subscription_id);
            let mut response = (StatusCode::CREATED, axum::Json(accepted)).into_response();
            response.headers_mut().extend(HeaderValue::from_str(&place).ok().map(|place| (header::LOCATION, place)));
            response
        }
    }
}

#[derive(serde::Deserialize)]
pub(crate) struct EventsQuery {
    subscription_id: Option<String>,
}

/// The events of a subscription, as an SSE stream (C16, C17).
#[utoipa::path(
    get, path = "/aaep/v1/events", tag = "subscribers", security(("session" = []), ("bearer" = [])),
    summary = "The events of a subscription, as they happen",
    description = "A stream of server-sent events that stays open: each has the name aaep.event, its event_id as id and one line of JSON as data. A comment is sent every ten seconds. A broken stream continues after Last-Event-ID; if that is no longer known, the current state is sent again. A second stream of the same subscription ends the first. A last event named aaep.close has the reason for the end of the subscription.",
    params(("subscription_id" = String, Query, description = "The id from subscription.accepted"), ("Last-Event-ID" = Option<String>, Header, description = "The id of the last received event")),
    responses((status = 200, description = "The stream", body = String, content_type = "text/event-stream"), ErrorResponses),
)]
pub(crate) async fn stream(
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
