//! A scripted service that records requests.

use async_trait::async_trait;
use bytes::Bytes;
use countersign_client::transport::{
    Chunks, FetchError, Request, Response, Streaming, StreamingResponse, Transport, Unreachable,
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::{Value, json};
use std::{
    collections::{HashMap, VecDeque},
    sync::Mutex,
    time::Duration,
};
use url::Url;

pub(crate) const MANIFEST: &str = "/.well-known/agent-auth.json";
pub(crate) const REGISTER: &str = "/agent/register";
pub(crate) const CONNECT: &str = "/agent/delegate/requests";
pub(crate) const EXCHANGE: &str = "/agent/delegate/token";
pub(crate) const EVENTS: &str = "/calendar/events";

/// One piece of a stream.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    Text(String),
    /// Silence for this many seconds.
    Silence(u64),
    Broken,
}

/// The content of a stream, or a refusal.
pub(crate) type ScriptedStream = Result<Vec<Piece>, Box<Response>>;

#[derive(Default)]
pub(crate) struct Service {
    answers: Mutex<HashMap<String, VecDeque<Result<Response, Unreachable>>>>,
    streams: Mutex<VecDeque<ScriptedStream>>,
    received: Mutex<Vec<Request>>,
}

impl Service {
    /// Replaces the responses at a path: one after the other, the last one repeatedly.
    pub(crate) fn answers(&self, path: &str, answers: impl IntoIterator<Item = Response>) {
        self.results(path, answers.into_iter().map(Ok));
    }

    /// The same with lost connections. Without any result it never responds.
    pub(crate) fn results(&self, path: &str, results: impl IntoIterator<Item = Result<Response, Unreachable>>) {
        self.answers.lock().unwrap().insert(path.to_owned(), results.into_iter().collect());
    }

    /// The contents of the next streams, or the refusals, in order. Without any left, a stream stays silent.
    pub(crate) fn streams(&self, streams: impl IntoIterator<Item = ScriptedStream>) {
        self.streams.lock().unwrap().extend(streams);
    }

    pub(crate) fn received(&self) -> Vec<Request> {
        self.received.lock().unwrap().clone()
    }

    /// The requested paths, in order.
    pub(crate) fn paths(&self) -> Vec<String> {
        self.received().iter().map(|request| path(&request.url)).collect()
    }

    pub(crate) fn received_at(&self, at: &str) -> Vec<Request> {
        self.received().into_iter().filter(|request| path(&request.url) == at).collect()
    }

    /// The request bodies at a path.
    pub(crate) fn bodies(&self, at: &str) -> Vec<Value> {
        self.received_at(at).iter().map(|request| serde_json::from_slice(&request.body).unwrap()).collect()
    }

    /// The requested versions at a path.
    pub(crate) fn versions(&self, at: &str) -> Vec<String> {
        self.received_at(at).iter().map(|request| header(request, "aap-version")).collect()
    }
}

#[async_trait]
impl Transport for Service {
    async fn send(&self, request: Request) -> Result<Response, Unreachable> {
        let path = path(&request.url);
        self.received.lock().unwrap().push(request);
        let next = {
            let mut answers = self.answers.lock().unwrap();
            let queue = answers.get_mut(&path).unwrap_or_else(|| panic!("nothing is scripted for {path}"));
            if queue.len() > 1 { queue.pop_front() } else { queue.front().cloned() }
        };
        match next {
            Some(result) => result,
            None => std::future::pending().await,
        }
    }
}

#[async_trait]
impl Streaming for Service {
    async fn open(&self, request: Request) -> Result<StreamingResponse, Unreachable> {
        self.received.lock().unwrap().push(request);
        assert!(self.received().len() < 100, "what is waited for never comes");
        let next = self.streams.lock().unwrap().pop_front().unwrap_or(Ok(vec![Piece::Silence(1_000_000)]));
        let (status, headers, pieces) = match next {
            Ok(pieces) => (StatusCode::OK, HeaderMap::new(), pieces),
            Err(refusal) => {
                let body = String::from_utf8(refusal.body.to_vec()).unwrap();
                (refusal.status, refusal.headers, vec![Piece::Text(body)])
            }
        };
        Ok(StreamingResponse { status, headers, body: Box::new(Pieces(pieces.into())) })
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
                tokio::time::sleep(Duration::from_secs(seconds)).await;
                Ok(Some(Bytes::new()))
            }
        }
    }
}

pub(crate) fn header(request: &Request, name: &str) -> String {
    request.headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
}

fn path(url: &str) -> String {
    Url::parse(url).unwrap().path().to_owned()
}

pub(crate) fn ok(body: &Value) -> Response {
    Response { status: StatusCode::OK, headers: HeaderMap::new(), body: Bytes::from(body.to_string()) }
}

pub(crate) fn refusal(status: u16, code: &str) -> Response {
    let body = json!({ "error": code, "error_description": "no", "hint": "do otherwise", "request_id": "req_1" });
    Response { status: StatusCode::from_u16(status).unwrap(), ..ok(&body) }
}

pub(crate) fn with(mut answer: Response, name: &'static str, value: &str) -> Response {
    answer.headers.insert(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
    answer
}
