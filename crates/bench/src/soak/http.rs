//! One request over its own connection, and whether any part of it can have arrived.

use bytes::Bytes;
use http::HeaderMap;
use http_body_util::{BodyExt as _, Full};
use hyper::{body::Incoming, client::conn::http1::handshake};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::{net::SocketAddr, time::Duration};
use tokio::net::TcpStream;

/// A listener of a node, and the host name that its callers use.
#[derive(Clone, Debug)]
pub(super) struct Listener {
    pub(super) address: SocketAddr,
    pub(super) host: String,
}

#[derive(Clone, Debug)]
pub(super) struct Request {
    method: &'static str,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: String,
}

impl Request {
    pub(super) fn get(path: impl Into<String>) -> Self {
        Self { method: "GET", path: path.into(), headers: Vec::new(), body: String::new() }
    }

    pub(super) fn post(path: impl Into<String>) -> Self {
        Self { method: "POST", ..Self::get(path) }
    }

    pub(super) fn json(self, body: &Value) -> Self {
        Self { body: body.to_string(), ..self }.with("content-type", "application/json")
    }

    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(super) fn bearer(self, token: &str) -> Self {
        self.with("authorization", format!("Bearer {token}"))
    }
}

#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// False if the body broke off.
    pub(super) is_whole: bool,
}

impl Answer {
    /// The body as JSON; null if it is not JSON.
    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// The request got no response.
#[derive(Clone, Debug)]
pub(super) enum NoAnswer {
    /// There was no connection, so nothing was sent.
    NotSent(String),
    /// Some of it was sent, and may have arrived.
    Lost(String),
}

impl std::fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotSent(why) => write!(f, "not sent: {why}"),
            Self::Lost(why) => write!(f, "no answer: {why}"),
        }
    }
}

const CONNECT: Duration = Duration::from_secs(5);

#[expect(clippy::disallowed_methods, reason = "the soak connects to the nodes that it started, on loopback")]
pub(super) async fn send(to: &Listener, request: Request, patience: Duration) -> Result<Answer, NoAnswer> {
    let connected = tokio::time::timeout(CONNECT, TcpStream::connect(to.address)).await;
    let stream = match connected {
        Ok(Ok(stream)) => stream,
        Ok(Err(why)) => return Err(NoAnswer::NotSent(why.to_string())),
        Err(_) => return Err(NoAnswer::NotSent("no connection in time".into())),
    };
    let _nodelay = stream.set_nodelay(true);
    match tokio::time::timeout(patience, exchange(stream, to, request)).await {
        Ok(answered) => answered,
        Err(_) => Err(NoAnswer::Lost(format!("nothing within {} s", patience.as_secs()))),
    }
}

async fn exchange(stream: TcpStream, to: &Listener, request: Request) -> Result<Answer, NoAnswer> {
    let lost = |why: &dyn std::fmt::Display| NoAnswer::Lost(why.to_string());
    let not_sent = |why: &dyn std::fmt::Display| NoAnswer::NotSent(why.to_string());
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await.map_err(|why| not_sent(&why))?;
    tokio::spawn(connection);
    let mut built = http::Request::builder().method(request.method).uri(&request.path).header("host", &to.host);
    for (name, value) in &request.headers {
        built = built.header(*name, value);
    }
    let built = built.body(Full::new(Bytes::from(request.body))).map_err(|why| not_sent(&why))?;
    let (head, mut body) = sender.send_request(built).await.map_err(|why| lost(&why))?.into_parts();
    let (body, is_whole) = read(&mut body).await;
    Ok(Answer { status: head.status.as_u16(), headers: head.headers, body, is_whole })
}

async fn read(body: &mut Incoming) -> (Bytes, bool) {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => bytes.extend_from_slice(frame.data_ref().map(AsRef::as_ref).unwrap_or_default()),
            Err(_) => return (bytes.into(), false),
        }
    }
    (bytes.into(), true)
}
