//! AAEP sessions of agents: an agent opens a session and publishes its events (AAEP 4).

use super::message;
use crate::{
    App,
    http::{
        answer::{self, ErrorResponses, RefusalResponse},
        request_id::RequestId,
    },
    v1::AgentCaller,
};
use axum::{
    extract::{Path, Request, State},
    response::{IntoResponse, Response},
};
use countersign_engine::{AgentPrincipal, ProjectAt, Refusal, Spoke};
use countersign_protocol::{
    aaep::{
        ingest::{IngestedEvent, published},
        problem::MemberProblem,
    },
    decisions::DecisionDocument,
    time::{UnixMillis, rfc3339},
};
use http::{HeaderValue, StatusCode, header};
use serde_json::Value;

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

/// An agent opens an AAEP session (AAEP 4.1).
#[utoipa::path(
    post, path = "/aaep/v1/sessions", tag = "agents", security(("bearer" = [])),
    request_body(content = Object, description = "An aaep:agent.session.started event"),
    summary = "Begin an AAEP session with its session.started event",
    description = "The body is an aaep:agent.session.started event. The hub sets ids, times and the producer; sent values are ignored.",
    responses((status = 201, description = "The session is open", body = OpenedAaepSession), ErrorResponses),
)]
pub(crate) async fn open(caller: AgentCaller, id: RequestId, request: Request) -> Result<Response, RefusalResponse> {
    let event = match message::read(request).await {
        Ok(event) => event,
        Err(why) => return Ok(why.response(&id)),
    };
    let session = caller.engine.events().open_aaep_session(&caller.at, &caller.agent, validated(&event)?).await?;
    let events = format!("{}/aaep/v1/sessions/{}/events", caller.at.prefix(), session.id);
    let opened = OpenedAaepSession { session_id: session.id, opened_at: session.opened_at, events };
    Ok((StatusCode::CREATED, axum::Json(opened)).into_response())
}

/// Maximum number of events in one request, and their maximum total size.
const MOST_EVENTS: usize = 100;
const MOST_BYTES: usize = 1024 * 1024;

#[derive(serde::Deserialize)]
pub(crate) struct SessionPath {
    session_id: String,
}

/// The result of one event.
#[derive(serde::Serialize, utoipa::ToSchema)]
#[serde(untagged)]
pub(crate) enum EventResult {
    Event {
        event_id: String,
        sequence_number: i64,
    },
    /// The event raised a question; this is the pending decision.
    Decision(Box<DecisionDocument>),
}

/// The results of a list of events, in the same order.
#[derive(serde::Serialize, utoipa::ToSchema)]
pub(crate) struct AllSaid {
    results: Vec<EventResult>,
}

/// The response to one event, or to a list of events.
#[derive(serde::Serialize, utoipa::ToSchema)]
#[serde(untagged)]
pub(crate) enum OneOrAllSaid {
    One(EventResult),
    All(AllSaid),
}

/// An agent publishes events.
#[utoipa::path(
    post, path = "/aaep/v1/sessions/{session_id}/events", tag = "agents", security(("bearer" = [])),
    request_body(content = serde_json::Value, description = "An event, or a list of events"),
    summary = "Send one event of a session, or up to 100 in order",
    description = "The body is an event or a list of events. The response to a question event is its pending decision. A list stops at the first refused event; the refusal names its position, and the events before it were accepted.",
    params(("session_id" = String, Path)),
    responses((status = 200, description = "The question was already pending", body = EventResult), (status = 201, description = "Accepted; for a list, results has one entry per event", body = OneOrAllSaid), ErrorResponses),
)]
pub(crate) async fn publish(
    State(app): State<App>,
    AgentCaller { at, agent, .. }: AgentCaller,
    id: RequestId,
    Path(SessionPath { session_id }): Path<SessionPath>,
    request: Request,
) -> Result<Response, RefusalResponse> {
    let body = match message::read_up_to(request, MOST_BYTES).await {
        Ok(body) => body,
        Err(why) => return Ok(why.response(&id)),
    };
    let saying = Saying { app: &app, at: &at, agent: &agent, session_id: &session_id };
    match body {
        Value::Array(events) => saying.all(&events, &id).await,
        event => {
            let (status, axum::Json(said)) = saying.one(&event).await?;
            Ok((status, axum::Json(OneOrAllSaid::One(said))).into_response())
        }
    }
}

struct Saying<'a> {
    app: &'a App,
    at: &'a ProjectAt,
    agent: &'a AgentPrincipal,
    session_id: &'a str,
}

impl Saying<'_> {
    async fn one(&self, event: &Value) -> Result<(StatusCode, axum::Json<EventResult>), Refusal> {
        let spoke = self.app.engine.events().publish(self.at, self.agent, self.session_id, validated(event)?).await?;
        Ok(match spoke {
            Spoke::Said { event_id, sequence_number } => {
                (StatusCode::CREATED, axum::Json(EventResult::Event { event_id, sequence_number }))
            }
            Spoke::Asked(raised) => {
                let status = if raised.fresh { StatusCode::CREATED } else { StatusCode::OK };
                (status, axum::Json(EventResult::Decision(Box::new(raised.document))))
            }
        })
    }

    async fn all(&self, events: &[Value], id: &RequestId) -> Result<Response, RefusalResponse> {
        if !(1..=MOST_EVENTS).contains(&events.len()) {
            return Err(Refusal::invalid(format!("a list has 1 to {MOST_EVENTS} events")).into());
        }
        let mut results = Vec::new();
        for (place, event) in events.iter().enumerate() {
            match self.one(event).await {
                Ok((_, axum::Json(said))) => results.push(said),
                Err(refusal) => return Ok(self.stopped(place, &refusal, id)),
            }
        }
        Ok((StatusCode::CREATED, axum::Json(OneOrAllSaid::All(AllSaid { results }))).into_response())
    }

    /// Names the refused event, so that the agent can correct it and continue from there.
    fn stopped(&self, place: usize, refusal: &Refusal, id: &RequestId) -> Response {
        self.app.metrics.refused(refusal.code());
        let what = format!("events[{place}] was refused, the events before it were accepted: {refusal}");
        let mut response = answer::plain(refusal.code(), what, Some(refusal.hint()), id);
        let wait = refusal.retry_after_s().map(|seconds| (header::RETRY_AFTER, HeaderValue::from(seconds)));
        response.headers_mut().extend(wait);
        response
    }
}

/// The event, or a refusal that lists every problem with it.
pub(super) fn validated(event: &Value) -> Result<IngestedEvent, Refusal> {
    published(event).map_err(|problems| {
        let told: Vec<String> = problems.iter().map(MemberProblem::to_string).collect();
        Refusal::invalid(told.join("; "))
    })
}
