//! The event loop of one socket: receiving, sending and closing.

use super::{
    close::{self, Goodbye},
    proof::SocketProof,
};
use crate::{
    App,
    aaep::{
        message::{self, Incoming, NoMessage},
        rejected::{Rejected, malformed},
        replies::end,
        sse,
    },
    serve::ClientConnection,
};
use axum::extract::ws::{Message, WebSocket};
use countersign_engine::{Delivered, EventStream, Listener, ProjectAt, Refusal};
use countersign_protocol::aaep::{
    handshake::{Close, Renegotiate, SubscriptionAccepted, SubscriptionRequest},
    reply::Reply,
};
use serde_json::Value;
use std::{pin::Pin, time::Duration};
use tokio::time::{Interval, MissedTickBehavior, Sleep};

const PING: Duration = Duration::from_secs(10);
/// Maximum number of unanswered pings.
const MOST_UNANSWERED: u32 = 3;
/// A client that is silent for this long subscribes implicitly, without a handshake (C15).
const SILENCE: Duration = Duration::from_secs(2);
/// A client that accepts no data for this long is disconnected.
const BLOCKED: Duration = Duration::from_secs(30);

pub(super) struct SocketSession {
    socket: WebSocket,
    app: App,
    at: ProjectAt,
    proof: SocketProof,
    on: ClientConnection,
    open: Option<SocketSubscription>,
    ping: Interval,
    unanswered: u32,
    silence: Pin<Box<Sleep>>,
}

/// The subscription of this socket.
struct SocketSubscription {
    id: String,
    events: EventStream,
    /// The client never received its id.
    implicit: bool,
}

enum Happened {
    Stopping,
    Received(Option<Result<Message, axum::Error>>),
    Delivered(Option<Delivered>),
    TimeToPing,
    Silence,
}

impl SocketSession {
    pub(super) fn new(socket: WebSocket, app: App, at: ProjectAt, proof: SocketProof, on: ClientConnection) -> Self {
        let mut ping = tokio::time::interval(PING);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ping.reset();
        let silence = Box::pin(tokio::time::sleep(SILENCE));
        Self { socket, app, at, proof, on, open: None, ping, unanswered: 0, silence }
    }

    /// Runs until either side closes. A subscription ends with its socket: it cannot be resumed (AAEP B.2).
    pub(super) async fn run(mut self) {
        let goodbye = loop {
            let happened = self.happened().await;
            match self.react(happened).await {
                Ok(()) => {}
                Err(goodbye) => break goodbye,
            }
        };
        if let (Some(open), Ok(listener)) = (self.open.take(), self.listener().await) {
            let _gone = end(&self.app, &self.at, &listener, &open.id).await;
        }
        let _sent = tokio::time::timeout(BLOCKED, goodbye.send(self.socket)).await;
    }

    async fn happened(&mut self) -> Happened {
        let Self { socket, on, open, ping, silence, .. } = self;
        let is_open = open.is_some();
        tokio::select! {
            () = on.is_to_end() => Happened::Stopping,
            received = socket.recv() => Happened::Received(received),
            delivered = next(open) => Happened::Delivered(delivered),
            _ = ping.tick() => Happened::TimeToPing,
            () = silence.as_mut(), if !is_open => Happened::Silence,
        }
    }

    async fn react(&mut self, happened: Happened) -> Result<(), Goodbye> {
        match happened {
            Happened::Stopping => Err(Goodbye::new(close::GOING_AWAY, "this node is stopping; connect again")),
            Happened::Received(received) => self.received(received).await,
            Happened::Delivered(Some(Delivered::Event { json, .. })) => self.send_text(json.to_string()).await,
            Happened::Delivered(Some(Delivered::Closed { reason_code, reason_message })) => {
                Err(self.closed(reason_code, reason_message))
            }
            Happened::Delivered(None) => Err(Goodbye::new(close::CLEAN, "the subscription is over")),
            Happened::TimeToPing => self.ping().await,
            Happened::Silence => self.open_implicitly().await,
        }
    }

    async fn received(&mut self, received: Option<Result<Message, axum::Error>>) -> Result<(), Goodbye> {
        self.unanswered = 0;
        match received {
            Some(Ok(Message::Text(text))) => self.heard(text.as_bytes()).await,
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => Ok(()),
            Some(Ok(Message::Binary(_))) => Err(Goodbye::new(close::VIOLATION, "a message is a text frame")),
            Some(Ok(Message::Close(_))) | None => Err(Goodbye::new(close::CLEAN, "goodbye")),
            Some(Err(_)) => Err(Goodbye::new(close::TOO_BIG, "the frame is too large or invalid")),
        }
    }

    async fn heard(&mut self, text: &[u8]) -> Result<(), Goodbye> {
        let message = message::parse(text).map_err(violation)?;
        let listener = self.listener().await?;
        if message::kind(&message) == "subscription.request" {
            return self.subscribe(&listener, &message).await;
        }
        if self.open.is_none() {
            self.open_implicitly().await?;
        }
        match Incoming::parse(&message, self.open.as_ref().is_some_and(|open| open.implicit)) {
            Ok(Incoming::Reply(reply)) => self.reply(&listener, *reply).await,
            Ok(Incoming::Renegotiate(changed)) => self.renegotiate(&listener, &changed).await,
            Ok(Incoming::Close(close)) => self.close(&listener, &close).await,
            Err(why) => unreadable(&message, why),
        }
    }

    /// A second accepted request replaces the first subscription. If it is rejected, the first one continues
    /// (AAEP 5.9); only the rejection of a first request closes the socket.
    async fn subscribe(&mut self, listener: &Listener, message: &Value) -> Result<(), Goodbye> {
        let accepted = match self.negotiate(listener, message).await {
            Ok(accepted) => accepted,
            Err(rejected) if self.open.is_some() => return self.send_text(json(&rejected.document)?).await,
            Err(rejected) => return Err(rejected.into()),
        };
        let answer = json(&accepted)?;
        self.listen(listener, accepted.subscription_id, false).await?;
        self.send_text(answer).await
    }

    async fn negotiate(&mut self, listener: &Listener, message: &Value) -> Result<SubscriptionAccepted, Rejected> {
        let asked = SubscriptionRequest::parse(message).map_err(malformed)?;
        Ok(self.app.engine.events().subscribe(&self.at, listener, &asked).await?)
    }

    async fn open_implicitly(&mut self) -> Result<(), Goodbye> {
        let listener = self.listener().await?;
        let id = self.app.engine.events().subscribe_implicitly(&self.at, &listener).await?;
        self.listen(&listener, id, true).await
    }

    async fn listen(&mut self, listener: &Listener, id: String, implicit: bool) -> Result<(), Goodbye> {
        let events = self.app.engine.events().stream(&self.at, listener, &id, None).await?;
        if let Some(old) = self.open.replace(SocketSubscription { id, events, implicit }) {
            end(&self.app, &self.at, listener, &old.id).await?;
        }
        Ok(())
    }

    /// Sends no response: the events that follow carry the outcome.
    async fn reply(&mut self, listener: &Listener, mut reply: Reply) -> Result<(), Goodbye> {
        if let Some(open) = self.open.as_ref().filter(|open| open.implicit) {
            match &mut reply {
                Reply::Confirmation(reply) => reply.subscription_id = Some(open.id.clone()),
                Reply::Clarification(reply) => reply.subscription_id = Some(open.id.clone()),
            }
        }
        Ok(self.app.engine.events().reply(&self.at, listener, &reply, false).await?)
    }

    async fn renegotiate(&mut self, listener: &Listener, changed: &Renegotiate) -> Result<(), Goodbye> {
        let answer = self.app.engine.events().renegotiate(&self.at, listener, changed).await;
        let accepted = answer.map_err(Rejected::from)?;
        self.send_text(json(&accepted)?).await
    }

    async fn close(&mut self, listener: &Listener, close: &Close) -> Result<(), Goodbye> {
        end(&self.app, &self.at, listener, &close.subscription_id).await?;
        match self.open.as_ref().is_some_and(|open| open.id == close.subscription_id) {
            true => Err(Goodbye::new(close::BY_SUBSCRIBER, "the subscriber ended it")),
            false => Ok(()),
        }
    }

    async fn ping(&mut self) -> Result<(), Goodbye> {
        if self.unanswered >= MOST_UNANSWERED {
            return Err(Goodbye::new(close::CLEAN, "no response from the peer"));
        }
        self.unanswered += 1;
        self.send(Message::Ping(bytes::Bytes::new())).await
    }

    async fn send_text(&mut self, message: String) -> Result<(), Goodbye> {
        self.send(Message::Text(message.into())).await
    }

    async fn send(&mut self, message: Message) -> Result<(), Goodbye> {
        let gone = || Goodbye::new(close::CLEAN, "the peer is gone");
        let sent = tokio::time::timeout(BLOCKED, self.socket.send(message)).await;
        sent.map_err(|_| gone())?.map_err(|_| gone())
    }

    /// The hub closed the subscription: sends the protocol's close document first.
    fn closed(&self, reason_code: String, reason_message: String) -> Goodbye {
        let code = match reason_code.as_str() {
            "authentication_required" => close::NOT_PROVEN,
            "authorization_denied" => close::NOT_ENTITLED,
            "too_slow" => close::VIOLATION,
            _ => close::CLEAN,
        };
        let id = self.open.as_ref().map(|open| open.id.clone()).unwrap_or_default();
        let message = sse::close(id, reason_code, reason_message.clone());
        Goodbye { message: Some(message), code, reason: reason_message }
    }

    /// The subscriber with its current rights, in the project's current state.
    async fn listener(&mut self) -> Result<Listener, Goodbye> {
        self.at = self.app.engine.project(&self.at.address).await?;
        Ok(self.proof.listener(&self.app, &self.at).await?)
    }
}

fn json(document: &impl serde::Serialize) -> Result<String, Goodbye> {
    Ok(serde_json::to_string(document).map_err(|_| Refusal::Internal)?)
}

/// The next delivery; without a subscription it never resolves.
async fn next(open: &mut Option<SocketSubscription>) -> Option<Delivered> {
    match open {
        Some(open) => open.events.next().await,
        None => std::future::pending().await,
    }
}

/// An invalid reply is ignored like every reply that does not count (AAEP 6.3.4). An invalid change of a subscription
/// is rejected; any other message is a protocol violation.
fn unreadable(message: &Value, why: NoMessage) -> Result<(), Goodbye> {
    match message::kind(message) {
        "confirmation.reply" | "clarification.reply" => {
            tracing::info!("a reply was not a valid message");
            Ok(())
        }
        "subscription.renegotiate" => Err(Rejected::from(why).into()),
        _ => Err(violation(why)),
    }
}

fn violation(why: NoMessage) -> Goodbye {
    match why {
        NoMessage::TooLarge => Goodbye::new(close::TOO_BIG, "the message is too large"),
        NoMessage::Malformed(why) => Goodbye::new(close::VIOLATION, why),
    }
}
