//! `GET /mplp/v1/events`: the events of the bus, one page at a time or as a stream.

use super::{caller::MplpCaller, denied::Denied, event_stream, paging::Since};
use crate::{App, http::sse, serve::ClientConnection};
use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use countersign_protocol::{
    aap::error::ErrorEnvelope,
    mplp::{BusEvent, ListPage},
};
use http::{HeaderMap, header};

#[utoipa::path(
    get,
    path = "/mplp/v1/events",
    tag = "plans",
    summary = "The events of plans, Confirms and calls, oldest first",
    description = "An agent sees the events of its own requests; an admin key, admins and auditors see all of the project. With Accept: text/event-stream the response stays open: each event has the name mplp.event, one line of JSON as data, and the id after which a broken stream continues. A comment is sent every ten seconds. The stream ends when the credential is no longer valid.",
    params(("limit" = Option<u32>, Query, minimum = 1, description = "How many entries of the record are read: default 50, at most 200"), ("after" = Option<String>, Query, description = "next of the previous page; from the beginning if absent"), ("Last-Event-ID" = Option<String>, Header, description = "The last id received by a stream; it takes precedence over after")),
    responses((status = 200, description = "A page of events; next is always present, and equals after once there are no further events", content((ListPage<BusEvent> = "application/json"), (String = "text/event-stream"))), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn get(
    State(app): State<App>,
    caller: MplpCaller,
    headers: HeaderMap,
    on: ClientConnection,
    since: Since,
) -> Result<Response, Denied> {
    let page = app.engine.plans().bus_events(&caller.at, &caller.reader(), &since.after, since.limit).await?;
    if wants_stream(&headers) {
        return Ok(sse::response(event_stream::events(app, caller, page), on));
    }
    let items: Vec<BusEvent> = page.events.into_iter().map(|told| told.event).collect();
    Ok(axum::Json(ListPage { items, next: Some(page.next.to_string()) }).into_response())
}

fn wants_stream(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut kinds = accepted.flat_map(|list| list.split(','));
    kinds.any(|kind| kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("text/event-stream"))
}
