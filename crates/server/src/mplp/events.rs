//! `GET /mplp/v1/events`: the events of the bus, one page at a time or as a stream.

use super::{caller::Caller, denied::Denied, following, paging::Since};
use crate::{App, http::sse, serve::Connection};
use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use countersign_protocol::{
    aap::error::Envelope,
    mplp::{BusEvent, Listed},
};
use http::{HeaderMap, header};

#[utoipa::path(
    get,
    path = "/mplp/v1/events",
    tag = "plans",
    summary = "What happened to plans, Confirms and calls, oldest first",
    description = "An agent sees what happened to what it asked itself; an admin key, admins and auditors see all of the project. With Accept: text/event-stream the answer stays open: each event has the name mplp.event and one line of JSON as data, and the id behind which a stream that broke off goes on. A comment is sent every ten seconds. The stream ends when the credential counts no more.",
    params(("limit" = Option<u32>, Query, minimum = 1, description = "How many entries of the record are read: 50 unless said, at most 200"), ("after" = Option<String>, Query, description = "next of the page before; from the beginning if absent"), ("Last-Event-ID" = Option<String>, Header, description = "The last id that arrived by a stream; it goes before after")),
    responses((status = 200, description = "A page of events; next is always there, and once it is what was sent as after, nothing more has happened", content((Listed<BusEvent> = "application/json"), (String = "text/event-stream"))), (status = "4XX", description = "Refused: the envelope says why and what to do", body = Envelope), (status = "5XX", description = "Trouble on our side", body = Envelope)),
    security(("bearer" = []))
)]
pub(crate) async fn get(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    on: Connection,
    since: Since,
) -> Result<Response, Denied> {
    let page = app.engine.bus_events(&caller.at, &caller.reader(), &since.after, since.limit).await?;
    if wants_stream(&headers) {
        return Ok(sse::response(following::events(app, caller, page), on));
    }
    let items: Vec<BusEvent> = page.events.into_iter().map(|told| told.event).collect();
    Ok(axum::Json(Listed { items, next: Some(page.next.to_string()) }).into_response())
}

fn wants_stream(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut kinds = accepted.flat_map(|list| list.split(','));
    kinds.any(|kind| kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("text/event-stream"))
}
