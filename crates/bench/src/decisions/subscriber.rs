//! The one subscriber of a server: its subscription, and the event stream with all questions.

use super::serving::{CycleParticipants, Scenario};
use crate::{
    StoreKind,
    child::{ServerProcess, ServerTask},
    load::connect,
};
use anyhow::{Context as _, ensure};
use bytes::{Buf as _, Bytes};
use http::{Method, Request};
use http_body_util::{BodyExt as _, Full};
use hyper::{body::Incoming, client::conn::http1::SendRequest};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::{
    sync::{Mutex, mpsc},
    task::AbortHandle,
};

pub(super) type CycleConnection = SendRequest<Full<Bytes>>;

/// A server and its one subscriber. The event stream stays open.
pub(super) struct SubscribedServer {
    pub(super) process: ServerProcess<CycleParticipants>,
    pub(super) subscription: String,
    /// Reply tokens of the questions in the stream.
    pub(super) questions: Arc<Mutex<mpsc::Receiver<String>>>,
    listening: AbortHandle,
}

impl SubscribedServer {
    pub(super) async fn start(store: StoreKind, scenario: Scenario) -> anyhow::Result<Self> {
        Self::start_under(&[], store, scenario).await
    }

    /// The same under another program, if one is given.
    pub(super) async fn start_under(under: &[&str], store: StoreKind, scenario: Scenario) -> anyhow::Result<Self> {
        let process = ServerProcess::start_under(under, store, ServerTask::Decisions(scenario))?;
        let subscription = subscribe(&process).await?;
        let (send, questions) = mpsc::channel(4096);
        let listening = listen(&process, &subscription, send).await?;
        Ok(Self { process, subscription, questions: Arc::new(Mutex::new(questions)), listening })
    }

    pub(super) fn grown_kib(&self) -> f64 {
        self.process.told.grown_kib
    }
}

impl Drop for SubscribedServer {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

async fn subscribe(server: &ServerProcess<CycleParticipants>) -> anyhow::Result<String> {
    let mut connection = connect(&server.address).await?;
    let body = json!({
        "type": "subscription.request", "aaep_version": "1.0.0", "subscriber_id": "bench",
        "capabilities": { "supports_confirmation_reply": true },
    });
    let path = "/aaep/v1/subscriptions";
    let (address, token) = (&server.address, &server.told.subscriber);
    let (status, accepted) = send(&mut connection, address, Method::POST, path, token, Some(&body)).await?;
    ensure!(status == 201, "subscribe: {status} {accepted}");
    Ok(accepted["subscription_id"].as_str().context("no subscription")?.to_owned())
}

/// The one event stream; it hands the reply tokens of questions to the workers.
async fn listen(
    server: &ServerProcess<CycleParticipants>,
    subscription: &str,
    questions: mpsc::Sender<String>,
) -> anyhow::Result<AbortHandle> {
    let mut connection = connect(&server.address).await?;
    let request = Request::get(format!("/aaep/v1/events?subscription_id={subscription}"))
        .header("host", &server.address)
        .header("accept", "text/event-stream")
        .header("authorization", format!("Bearer {}", server.told.subscriber))
        .body(Full::default())?;
    connection.ready().await?;
    let response = connection.send_request(request).await?;
    ensure!(response.status() == 200, "events: {}", response.status());
    let listening = tokio::spawn(async move {
        let _kept = connection;
        hear(response.into_body(), questions).await
    });
    Ok(listening.abort_handle())
}

async fn hear(mut stream: Incoming, questions: mpsc::Sender<String>) -> anyhow::Result<()> {
    let mut text = Vec::new();
    while let Some(frame) = stream.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        text.extend_from_slice(data.chunk());
        while let Some(end) = text.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = text.drain(..=end).collect();
            let Some(event) = line.strip_prefix(b"data: ") else { continue };
            if let Some(token) = token_in(event) {
                questions.send(token).await?;
            }
        }
    }
    Ok(())
}

fn token_in(event: &[u8]) -> Option<String> {
    // Only questions have a reply token, and searching for it is cheaper than parsing every event.
    if !event.windows(12).any(|window| window == b"\"reply_token") {
        return None;
    }
    let event: Value = serde_json::from_slice(event).ok()?;
    event["reply_token"].as_str().map(str::to_owned)
}

pub(super) async fn send(
    connection: &mut CycleConnection,
    address: &str,
    method: Method,
    path: &str,
    token: &str,
    body: Option<&Value>,
) -> anyhow::Result<(u16, Value)> {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", address)
        .header("content-type", "application/json")
        .header("authorization", format!("Bearer {token}"))
        .body(body.map(|body| Full::from(body.to_string())).unwrap_or_default())?;
    connection.ready().await?;
    let response = connection.send_request(request).await?;
    let status = response.status().as_u16();
    let body = response.into_body().collect().await?.to_bytes();
    Ok((status, serde_json::from_slice(&body).unwrap_or_default()))
}
