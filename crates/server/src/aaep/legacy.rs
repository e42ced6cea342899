//! `/aaep/legacy/{token}/events` and `/messages`: for clients that cannot send credentials.
//!
//! A person creates the token and a project enables the endpoints. Cross-origin pages and DNS rebinding are refused.
//! Every invalid token is answered with 404.

mod choices;
mod door;
mod guard;

pub(crate) use door::LegacyDoor;

use super::{
    listener::{NoListener, by_token},
    message::{self, Incoming, NoMessage},
    rejected::malformed,
    replies::end,
    sse::{self, Frame, Style},
    subscriptions::last_event_id,
};
use crate::{
    App,
    http::{answer::RefusalResponse, at::AtProject, request_id::RequestId},
    serve::ClientConnection,
};
use axum::{
    extract::{Path, Request, State},
    response::{IntoResponse, Response},
};
use countersign_engine::{Delivered, EventStream, Listener, ProjectAt, Refusal};
use countersign_protocol::{aaep::handshake::SubscriptionRequest, hash::Digest};
use door::{Handover, StreamSlot};
use futures_util::{Stream, stream};
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use std::collections::VecDeque;

#[derive(serde::Deserialize)]
pub(crate) struct LegacyPath {
    token: String,
}

/// The stream: events of an implicit subscription, or of the one requested through `messages` (C15).
pub(crate) async fn events(
    State(app): State<App>,
    AtProject(at): AtProject,
    Path(LegacyPath { token }): Path<LegacyPath>,
    headers: HeaderMap,
    on: ClientConnection,
) -> Result<Response, RefusalResponse> {
    let page = guard::check(&app, &headers)?;
    let listener = listener(&app, &at, &token).await?;
    let name = Digest::of(token.as_bytes());
    let (place, waiting) = app.legacy.enter(name);
    let begun = Telling::begin(app.clone(), at, listener, place, waiting, last_event_id(&headers)).await?;
    Ok(guard::allowed(page, sse::response(begun.frames(), Style::Unnamed, on)))
}

/// Messages from the client.
pub(crate) async fn messages(
    State(app): State<App>,
    AtProject(at): AtProject,
    Path(LegacyPath { token }): Path<LegacyPath>,
    id: RequestId,
    request: Request,
) -> Result<Response, RefusalResponse> {
    let page = guard::check(&app, request.headers())?;
    let listener = listener(&app, &at, &token).await?;
    let sender = Sender { app: &app, at: &at, listener: &listener, name: Digest::of(token.as_bytes()) };
    let response = match message::read(request).await {
        Err(why) => why.response(&id),
        Ok(message) => sender.take(message, &id).await?,
    };
    Ok(guard::allowed(page, response))
}

pub(crate) async fn preflight(State(app): State<App>, headers: HeaderMap) -> Result<Response, RefusalResponse> {
    let page = guard::check(&app, &headers)?;
    Ok(guard::preflight(page))
}

/// A token of another kind, an unknown token and a disabled endpoint are indistinguishable: not found (AAEP-6.3.1-06).
async fn listener(app: &App, at: &ProjectAt, token: &str) -> Result<Listener, Refusal> {
    let nothing = || Refusal::NotFound("there is nothing at this address".into());
    match by_token(app, at, token).await {
        Ok(listener) if listener.is_legacy() => Ok(listener),
        Ok(_) | Err(NoListener::Unproven) => Err(nothing()),
        Err(NoListener::Refused(refusal)) => Err(refusal),
    }
}

struct Sender<'a> {
    app: &'a App,
    at: &'a ProjectAt,
    listener: &'a Listener,
    name: Digest,
}

impl Sender<'_> {
    async fn take(&self, mut message: Value, id: &RequestId) -> Result<Response, Refusal> {
        if message.get("kind").is_some_and(|kind| kind == "user_input") {
            return self.user_input().await;
        }
        match message::kind(&message) {
            "subscription.request" => return self.subscribe(&message).await,
            "subscription.close" => self.close().await?,
            _ => {
                self.app.legacy.say_value_for_label(self.name, &mut message);
                match Incoming::parse(&message, true) {
                    Ok(Incoming::Reply(reply)) => {
                        self.app.engine.events().reply(self.at, self.listener, &reply, true).await?
                    }
                    Ok(_) => return Ok(unheard().response(id)),
                    Err(why) => return Ok(why.response(id)),
                }
            }
        }
        Ok(StatusCode::NO_CONTENT.into_response())
    }

    /// The response goes out on the stream, ahead of pending events; if no stream is open, the next one begins with it
    /// (S3).
    async fn subscribe(&self, message: &Value) -> Result<Response, Refusal> {
        let asked = SubscriptionRequest::parse(message).map_err(|why| malformed(why).document);
        let answer = match asked {
            Ok(asked) => self.app.engine.events().subscribe(self.at, self.listener, &asked).await,
            Err(rejected) => Err(rejected),
        };
        let handover = match answer {
            Ok(accepted) => Handover::handshake(&accepted, Some(accepted.subscription_id.clone()))?,
            Err(rejected) => Handover::handshake(&rejected, None)?,
        };
        if let Some(replaced) = self.app.legacy.hand_over(self.name, handover).and_then(|old| old.subscription_id) {
            end(self.app, self.at, self.listener, &replaced).await?;
        }
        Ok(StatusCode::ACCEPTED.into_response())
    }

    /// User input for an agent. It is acknowledged on the stream, ahead of pending events, and stored nowhere: agents
    /// receive their tasks by their own means. The session id is that of an agent acting for this person.
    async fn user_input(&self) -> Result<Response, Refusal> {
        let session_id = self.app.engine.events().session_heard_by(self.at, self.listener).await?;
        let accepted = json!({ "kind": "user_input.accepted", "session_id": session_id });
        self.app.legacy.hand_over(self.name, Handover::message(&accepted));
        Ok(StatusCode::ACCEPTED.into_response())
    }

    /// Such a client does not know its subscription's id, so every subscription on its streams is closed.
    async fn close(&self) -> Result<(), Refusal> {
        for subscription in self.app.legacy.heard_by(self.name) {
            end(self.app, self.at, self.listener, &subscription).await?;
        }
        Ok(())
    }
}

fn unheard() -> NoMessage {
    NoMessage::Malformed(
        "type must be confirmation.reply, clarification.reply, subscription.request or subscription.close, or kind \
         user_input"
            .into(),
    )
}

/// An open stream.
struct Telling {
    app: App,
    at: ProjectAt,
    listener: Listener,
    place: StreamSlot,
    events: EventStream,
    first: VecDeque<Frame>,
}

enum Happened {
    HandedOver(Handover),
    Delivered(Option<Delivered>),
}

impl Telling {
    async fn begin(
        app: App,
        at: ProjectAt,
        listener: Listener,
        mut place: StreamSlot,
        waiting: Vec<Handover>,
        last: Option<&str>,
    ) -> Result<Self, Refusal> {
        let asked_for = waiting.iter().find_map(|handover| handover.subscription_id.clone());
        let first = waiting.into_iter().map(|handover| Frame::Message(handover.answer)).collect();
        let subscription = match asked_for {
            Some(subscription) => subscription,
            None => app.engine.events().subscribe_implicitly(&at, &listener).await?,
        };
        let events = app.engine.events().stream(&at, &listener, &subscription, last).await?;
        place.hears(subscription);
        Ok(Self { app, at, listener, place, events, first })
    }

    fn frames(self) -> impl Stream<Item = Frame> + Send {
        stream::unfold(self, |mut telling| async move {
            let frame = telling.next().await?;
            Some((frame, telling))
        })
    }

    async fn next(&mut self) -> Option<Frame> {
        if let Some(first) = self.first.pop_front() {
            return Some(first);
        }
        match self.happened().await {
            Happened::HandedOver(handover) => self.answered(handover).await,
            Happened::Delivered(Some(Delivered::Event { event_id, json })) => {
                let json = self.place.with_options(&json);
                Some(Frame::Event { event_id, json })
            }
            // The legacy protocol has no close message.
            Happened::Delivered(_) => None,
        }
    }

    async fn happened(&mut self) -> Happened {
        tokio::select! {
            biased;
            handover = self.place.handed_over() => Happened::HandedOver(handover),
            delivered = self.events.next() => Happened::Delivered(delivered),
        }
    }

    /// The new subscription replaces the old one, and the old one's buffered events are dropped.
    async fn answered(&mut self, handover: Handover) -> Option<Frame> {
        if let Some(subscription) = handover.subscription_id {
            let events = self.app.engine.events().stream(&self.at, &self.listener, &subscription, None).await.ok()?;
            let old = self.place.hears(subscription);
            self.events = events;
            if let Some(old) = old {
                let _gone = end(&self.app, &self.at, &self.listener, &old).await;
            }
        }
        Some(Frame::Message(handover.answer))
    }
}

/// The subscription ends with its stream: the client has no id to resume it by.
impl Drop for Telling {
    fn drop(&mut self) {
        let Some(subscription) = self.place.leaves() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (app, at, listener) = (self.app.clone(), self.at.clone(), self.listener.clone());
        runtime.spawn(async move {
            let _gone = end(&app, &at, &listener, &subscription).await;
        });
    }
}
