//! A scripted producer that records every request.

use crate::service::{Piece, Service, header, ok};
use countersign_client::{
    aaep::{Inbox, Received, SubscriberClient, SubscriberConfig, SubscriberEvent, Trust},
    transport::Response,
};
use countersign_protocol::{origin::Origin, time::UnixMillis};
use http::StatusCode;
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) const ORIGIN: &str = "https://producer.example";
pub(super) const TOKEN: &str = "cst_0123456789abcdef";

/// A producer that accepts every subscriber as `sub_1`, `sub_2` and so on, and takes every reply.
pub(super) fn accepting() -> Arc<Service> {
    let producer = Service::default();
    producer.answers("/aaep/v1/subscriptions", (1..9).map(|n| answer(201, &accepted(&format!("sub_{n}")))));
    producer.answers("/aaep/v1/replies", [answer(204, &Value::Null)]);
    Arc::new(producer)
}

/// The subscription and `Last-Event-ID` of each stream request.
pub(super) fn resumed(producer: &Service) -> Vec<(String, String)> {
    let asked = producer.received_at("/aaep/v1/events");
    asked
        .iter()
        .map(|request| (request.url.rsplit_once('=').unwrap().1.to_owned(), header(request, "last-event-id")))
        .collect()
}

pub(super) fn answer(status: u16, body: &Value) -> Response {
    Response { status: StatusCode::from_u16(status).unwrap(), ..ok(body) }
}

pub(super) fn accepted(id: &str) -> Value {
    json!({
        "type": "subscription.accepted",
        "subscription_id": id,
        "aaep_version": "1.0.0",
        "producer": { "agent_id": "robot.example" },
        "honored_capabilities": { "supports_confirmation_reply": true },
    })
}

pub(super) fn at(secs: i64) -> UnixMillis {
    UnixMillis::from_secs(1_790_000_000 + secs)
}

pub(super) fn question(n: usize, token: &str) -> Value {
    json!({
        "@context": "https://aaep-protocol.org/context/v1",
        "type": "aaep:agent.awaiting.confirmation",
        "event_id": format!("evt_{n}"),
        "session_id": "sess_1",
        "timestamp": at(0).to_rfc3339(),
        "producer": { "agent_id": "robot.example" },
        "urgency": "critical",
        "action": "Pay",
        "consequence": "Money leaves",
        "reply_token": token,
        "timeout_seconds": 600,
        "default_decision": "reject",
    })
}

/// An event in stream format.
pub(super) fn piece(event: &Value) -> Piece {
    let id = event["event_id"].as_str().unwrap();
    Piece::Text(format!("event: aaep.event\nid: {id}\ndata: {event}\n\n"))
}

pub(super) fn config() -> SubscriberConfig {
    SubscriberConfig::new(Origin::parse(ORIGIN).unwrap(), TOKEN)
}

pub(super) async fn subscriber(producer: &Arc<Service>) -> SubscriberClient {
    SubscriberClient::connect(config(), producer.clone(), Box::new(|| 0)).await.unwrap()
}

/// The next received event; everything else is skipped.
pub(super) async fn next_event(subscriber: &mut SubscriberClient) -> Received {
    loop {
        if let SubscriberEvent::Received(received) = subscriber.next().await.unwrap() {
            return *received;
        }
    }
}

/// Listens until this many questions are open.
pub(super) async fn listen(subscriber: &mut SubscriberClient, until: usize) -> Inbox {
    let mut inbox = Inbox::new(Trust::default());
    while inbox.questions().count() < until {
        inbox.apply(&next_event(subscriber).await, at(1));
    }
    inbox
}
