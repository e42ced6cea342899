//! The suite's stream.

use super::{StreamItem, SuiteAgent, SuiteState};
use countersign_engine::{Delivered, EventStream};
use countersign_protocol::aaep::handshake::{ReasonCode, SubscriptionRejected, SubscriptionRequest};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::{OwnedMutexGuard, mpsc},
    time::Interval,
};

/// The suite gives up a stream that is silent for 30 seconds.
const HEARTBEAT: Duration = Duration::from_secs(10);

pub(super) struct SuiteConnection {
    suite: Arc<SuiteState>,
    told: OwnedMutexGuard<mpsc::UnboundedReceiver<StreamItem>>,
    events: EventStream,
    /// Whether the suite negotiated the current subscription.
    is_negotiated: bool,
    heartbeat: Interval,
}

impl SuiteConnection {
    /// Opens an implicit subscription (C15).
    pub(super) async fn open(SuiteAgent(suite): SuiteAgent) -> Self {
        let told = Arc::clone(&suite.told).lock_owned().await;
        let SuiteState { engine, at, listener, .. } = &*suite;
        let subscription = engine.events().subscribe_implicitly(at, listener).await.expect("a subscription");
        let events = engine.events().stream(at, listener, &subscription, None).await.expect("a stream");
        let heartbeat = tokio::time::interval(HEARTBEAT);
        Self { suite, told, events, is_negotiated: false, heartbeat }
    }

    /// The next frame of the stream.
    pub(super) async fn next(&mut self) -> Option<String> {
        let message = self.message().await?;
        Some(message.map_or_else(|| ":\n\n".to_owned(), |json| format!("data: {json}\n\n")))
    }

    /// The next message, or only a heartbeat. Messages of the suite are handled before pending events are sent.
    pub(super) async fn message(&mut self) -> Option<Option<String>> {
        loop {
            let message = tokio::select! {
                biased;
                told = self.told.recv() => self.answer(told?).await.map(|answer| answer.to_string()),
                delivered = self.events.next() => match delivered? {
                    Delivered::Event { json, .. } => Some(json.to_string()),
                    Delivered::Closed { .. } => return None,
                },
                _ = self.heartbeat.tick() => return Some(None),
            };
            if message.is_some() {
                return Some(message);
            }
        }
    }

    async fn answer(&mut self, told: StreamItem) -> Option<Value> {
        match told {
            StreamItem::UserInput(text) => {
                let session_id = self.suite.voice.begin(&text).await;
                // Made up for the suite, which reads the session id from the first message after its input and
                // ignores the rest of it: if it were an event, the session would lack its first one.
                (!self.is_negotiated).then(|| json!({ "kind": "user_input.accepted", "session_id": session_id }))
            }
            StreamItem::SubscriptionRequest(request) => Some(self.negotiate(&request).await),
        }
    }

    /// A new subscription replaces the previous one, with its buffered events.
    async fn negotiate(&mut self, request: &Value) -> Value {
        let answer = match SubscriptionRequest::parse(request) {
            Ok(request) => self.suite.engine.events().subscribe(&self.suite.at, &self.suite.listener, &request).await,
            Err(why) => Err(SubscriptionRejected::new(ReasonCode::Unknown, why)),
        };
        let accepted = match answer {
            Ok(accepted) => accepted,
            Err(rejected) => return serde_json::to_value(rejected).expect("a document"),
        };
        let SuiteState { engine, at, listener, .. } = &*self.suite;
        let events = engine.events().stream(at, listener, &accepted.subscription_id, None).await.expect("a stream");
        let replaced = std::mem::replace(&mut self.events, events);
        let replaced = replaced.subscription_id().to_owned();
        engine.events().close_subscription(at, listener, &replaced).await.expect("a subscription to close");
        self.is_negotiated = true;
        serde_json::to_value(accepted).expect("a document")
    }
}
