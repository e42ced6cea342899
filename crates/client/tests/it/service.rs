//! A scripted service that records requests.

use async_trait::async_trait;
use bytes::Bytes;
use countersign_client::transport::{Request, Response, Transport, Unreachable};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::{Value, json};
use std::{
    collections::{HashMap, VecDeque},
    sync::Mutex,
};
use url::Url;

pub(crate) const MANIFEST: &str = "/.well-known/agent-auth.json";
pub(crate) const REGISTER: &str = "/agent/register";
pub(crate) const CONNECT: &str = "/agent/delegate/requests";
pub(crate) const EXCHANGE: &str = "/agent/delegate/token";
pub(crate) const EVENTS: &str = "/calendar/events";

#[derive(Default)]
pub(crate) struct Service {
    answers: Mutex<HashMap<String, VecDeque<Response>>>,
    asked: Mutex<Vec<Request>>,
}

impl Service {
    /// Replaces the responses at a path: one after the other, the last one repeatedly.
    pub(crate) fn answers(&self, path: &str, answers: impl IntoIterator<Item = Response>) {
        self.answers.lock().unwrap().insert(path.to_owned(), answers.into_iter().collect());
    }

    pub(crate) fn received(&self) -> Vec<Request> {
        self.asked.lock().unwrap().clone()
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
        self.asked.lock().unwrap().push(request);
        let mut answers = self.answers.lock().unwrap();
        let queue = answers.get_mut(&path).unwrap_or_else(|| panic!("nothing is scripted for {path}"));
        Ok(if queue.len() > 1 { queue.pop_front().unwrap() } else { queue.front().unwrap().clone() })
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
