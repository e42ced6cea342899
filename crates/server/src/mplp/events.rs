//! The events of plans, Confirms and calls: by page, as a stream, and as learning samples.

use super::{caller::MplpCaller, paging::Since};
use crate::{
    http::{
        answer::{ErrorResponses, RefusalResponse},
        sse::{self, line},
    },
    serve::ClientConnection,
};
use axum::response::{IntoResponse as _, Response};
use countersign_engine::{BusPage, Cursor, EventsAfter, Refusal};
use countersign_protocol::mplp::{BusEvent, LearningSample, ListPage};
use futures_util::{Stream, stream};
use http::{HeaderMap, HeaderName, HeaderValue, header};
use std::{collections::VecDeque, pin::pin};

/// The events of the bus, one page at a time or as a stream.
#[utoipa::path(
    get, path = "/mplp/v1/events", tag = "plans", security(("bearer" = [])),
    summary = "The events of plans, Confirms and calls, oldest first",
    description = "An agent sees the events of its own requests; an admin key, admins and auditors see all of the project. With Accept: text/event-stream the response stays open: each event has the name mplp.event, one line of JSON as data, and the id after which a broken stream continues. A comment is sent every ten seconds. The stream ends when the credential is no longer valid.",
    params(("limit" = Option<u32>, Query, minimum = 1, description = "How many entries of the record are read: default 50, at most 200"), ("after" = Option<String>, Query, description = "next of the previous page; from the beginning if absent"), ("Last-Event-ID" = Option<String>, Header, description = "The last id received by a stream; it takes precedence over after")),
    responses((status = 200, description = "A page of events; next is always present, and equals after once there are no further events. The header Countersign-Unreadable-Entries, for those who see all of the project, counts altered entries, whose events are left out", content((ListPage<BusEvent> = "application/json"), (String = "text/event-stream"))), ErrorResponses),
)]
pub(crate) async fn get(
    caller: MplpCaller,
    headers: HeaderMap,
    on: ClientConnection,
    since: Since,
) -> Result<Response, RefusalResponse> {
    let page = caller.engine.plans().bus_events(&caller.at, &caller.reader(), &since.after, since.limit).await?;
    if wants_stream(&headers) {
        return Ok(sse::response(event_stream(caller, page), on));
    }
    let items: Vec<BusEvent> = page.events.into_iter().map(|found| found.event).collect();
    let mut response = axum::Json(ListPage { items, next: Some(page.next.to_string()) }).into_response();
    if page.unreadable > 0 {
        response.headers_mut().insert(UNREADABLE, page.unreadable.into());
    }
    Ok(response)
}

/// How many entries of the page do not fit what was written; their events are left out.
const UNREADABLE: HeaderName = HeaderName::from_static("countersign-unreadable-entries");

fn wants_stream(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut kinds = accepted.flat_map(|list| list.split(','));
    kinds.any(|kind| kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("text/event-stream"))
}

/// Number of evidence entries read at once.
const READ_AT_ONCE: usize = 200;

/// Begins with the events already found.
fn event_stream(caller: MplpCaller, found: BusPage) -> impl Stream<Item = String> + Send {
    let BusPage { events, next, .. } = found;
    let following = EventFollower { caller, unsent: events.into(), cursor: next };
    stream::unfold(following, EventFollower::next)
}

struct EventFollower {
    caller: MplpCaller,
    unsent: VecDeque<EventsAfter>,
    cursor: Cursor,
}

impl EventFollower {
    async fn next(mut self) -> Option<(String, Self)> {
        loop {
            if let Some(event) = self.unsent.pop_front() {
                return Some((frame(&event)?, self));
            }
            self.read_more().await?;
        }
    }

    /// Reads the next events, and waits if there are none. `None` ends the stream: the caller has lost access, or it
    /// cannot be determined.
    async fn read_more(&mut self) -> Option<()> {
        let engine = &self.caller.engine;
        let plans = engine.plans();
        let mut change = pin!(plans.wait_for_events());
        // Registered before the read, so that no change is missed.
        let _not_yet = futures_util::poll!(&mut change);
        let at = engine.project(&self.caller.at.address).await.ok()?;
        let reader = plans.reauthenticate_caller(&at, &self.caller.token).await.ok()?.reader();
        let page = plans.bus_events(&at, &reader, &self.cursor, READ_AT_ONCE).await.ok()?;
        if page.events.is_empty() && !page.more {
            change.await;
        }
        self.unsent = page.events.into();
        self.cursor = page.next;
        Some(())
    }
}

/// Only the last event of an entry has an id: a stream cannot resume in between.
fn frame(event: &EventsAfter) -> Option<String> {
    let json = serde_json::to_string(&event.event).ok()?;
    let id = event.cursor.as_ref().map(|cursor| format!("id: {cursor}\n")).unwrap_or_default();
    Some(format!("event: mplp.event\n{id}data: {}\n\n", line(&json)))
}

/// The cursor of the next page; the body has no member for it.
const NEXT: HeaderName = HeaderName::from_static("countersign-next");

/// Learning samples from decisions, one document a line (MPLP 5).
#[utoipa::path(
    get, path = "/mplp/v1/learning-samples", tag = "plans", security(("bearer" = [])),
    summary = "Learning samples from the decisions of people",
    description = "For admin keys, and for people who administer the project or audit it. Texts by people and agents are left out unless the project states that the people concerned agreed.",
    params(("limit" = Option<u32>, Query, minimum = 1, description = "How many entries of the record are read: default 50, at most 200"), ("after" = Option<String>, Query, description = "next of the previous page; from the beginning if absent")),
    responses((status = 200, description = "One sample per line. The header Countersign-Next is the next cursor; it equals after once there are no further decisions", body = LearningSample, content_type = "application/x-ndjson"), ErrorResponses),
)]
pub(crate) async fn learning_samples(caller: MplpCaller, since: Since) -> Result<Response, RefusalResponse> {
    let page = caller.engine.plans().learning_samples(&caller.at, &caller.reader(), &since.after, since.limit).await?;
    let lines: Result<Vec<String>, _> = page.samples.iter().map(serde_json::to_string).collect();
    let lines = lines.map_err(|_| Refusal::Internal)?;
    let next = HeaderValue::from_str(&page.next.to_string()).map_err(|_| Refusal::Internal)?;
    let kind = HeaderValue::from_static("application/x-ndjson");
    let body: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
    Ok(([(header::CONTENT_TYPE, kind), (NEXT, next)], body).into_response())
}
