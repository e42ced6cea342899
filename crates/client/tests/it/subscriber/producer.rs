//! A scripted producer that records every request.

use async_trait::async_trait;
use bytes::Bytes;
use countersign_client::{
    aaep::{Inbox, Received, SubscriberClient, SubscriberConfig, SubscriberEvent, Trust},
    transport::{Chunks, FetchError, Request, Response, Streaming, StreamingResponse, Transport, Unreachable},
};
use countersign_protocol::{origin::Origin, time::UnixMillis};
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex},
};

pub(super) const ORIGIN: &str = "https://producer.example";
pub(super) const TOKEN: &str = "cst_0123456789abcdef";

/// One piece of a stream.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    Text(String),
    /// Silence for this many seconds.
    Silence(u64),
    Broken,
}

#[derive(Default)]
pub(super) struct Producer {
    answers: Mutex<HashMap<String, VecDeque<Result<Response, Unreachable>>>>,
    streams: Mutex<VecDeque<Result<Vec<Piece>, u16>>>,
    requests: Mutex<Vec<Request>>,
}

impl Producer {
    /// Accepts every subscriber as `sub_1`, `sub_2` and so on, and takes every reply.
    pub(super) fn new() -> Arc<Self> {
        let producer = Self::default();
        producer.answers("/aaep/v1/subscriptions", (1..9).map(|n| answer(201, &accepted(&format!("sub_{n}")))));
        producer.answers("/aaep/v1/replies", [answer(204, &Value::Null)]);
        Arc::new(producer)
    }

    /// Replaces the responses at a path: one after the other, the last one repeatedly.
    pub(super) fn answers(&self, path: &str, answers: impl IntoIterator<Item = Response>) {
        self.results(path, answers.into_iter().map(Ok));
    }

    pub(super) fn results(&self, path: &str, results: impl IntoIterator<Item = Result<Response, Unreachable>>) {
        self.answers.lock().unwrap().insert(path.to_owned(), results.into_iter().collect());
    }

    /// The contents of the next streams, in order. Without any left, a stream stays silent.
    pub(super) fn streams(&self, streams: impl IntoIterator<Item = Result<Vec<Piece>, u16>>) {
        self.streams.lock().unwrap().extend(streams);
    }

    pub(super) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    pub(super) fn bodies(&self, path: &str) -> Vec<Value> {
        let asked = self.requests().into_iter().filter(|request| request.url == format!("{ORIGIN}{path}"));
        asked.map(|request| serde_json::from_slice(&request.body).unwrap()).collect()
    }

    /// The subscription and `Last-Event-ID` of each stream request.
    pub(super) fn resumed(&self) -> Vec<(String, String)> {
        let asked = self.requests().into_iter().filter(|request| request.url.contains("/aaep/v1/events"));
        let id = |request: &Request| request.headers.get("last-event-id").map(|id| id.to_str().unwrap().to_owned());
        asked
            .map(|request| (request.url.rsplit_once('=').unwrap().1.to_owned(), id(&request).unwrap_or_default()))
            .collect()
    }
}

#[async_trait]
impl Transport for Producer {
    async fn send(&self, request: Request) -> Result<Response, Unreachable> {
        let path = request.url.strip_prefix(ORIGIN).unwrap().to_owned();
        self.requests.lock().unwrap().push(request);
        let mut answers = self.answers.lock().unwrap();
        let queue = answers.get_mut(&path).unwrap_or_else(|| panic!("nothing is scripted for {path}"));
        if queue.len() > 1 { queue.pop_front().unwrap() } else { queue.front().unwrap().clone() }
    }
}

#[async_trait]
impl Streaming for Producer {
    async fn open(&self, request: Request) -> Result<StreamingResponse, Unreachable> {
        self.requests.lock().unwrap().push(request);
        assert!(self.requests().len() < 100, "what is waited for never comes");
        let next = self.streams.lock().unwrap().pop_front().unwrap_or(Ok(vec![Piece::Silence(1_000_000)]));
        let (status, pieces) = match next {
            Ok(pieces) => (200, pieces),
            Err(status) => (status, Vec::new()),
        };
        let body = Box::new(Pieces(pieces.into()));
        Ok(StreamingResponse { status: StatusCode::from_u16(status).unwrap(), headers: HeaderMap::new(), body })
    }
}

struct Pieces(VecDeque<Piece>);

#[async_trait]
impl Chunks for Pieces {
    async fn chunk(&mut self) -> Result<Option<Bytes>, Unreachable> {
        match self.0.pop_front() {
            None => Ok(None),
            Some(Piece::Broken) => Err(FetchError::Http.into()),
            Some(Piece::Text(text)) => Ok(Some(text.into())),
            Some(Piece::Silence(seconds)) => {
                tokio::time::sleep(std::time::Duration::from_secs(seconds)).await;
                Ok(Some(Bytes::new()))
            }
        }
    }
}

pub(super) fn answer(status: u16, body: &Value) -> Response {
    let status = StatusCode::from_u16(status).unwrap();
    Response { status, headers: HeaderMap::new(), body: Bytes::from(body.to_string()) }
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

pub(super) async fn subscriber(producer: &Arc<Producer>) -> SubscriberClient {
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
