//! The load generator: agents that ask and wait, one subscriber that receives all questions, and workers that answer.

use super::messages::Server;
use crate::load::connect;
use anyhow::{Context as _, ensure};
use bytes::{Buf as _, Bytes};
use http::{Method, Request};
use http_body_util::{BodyExt as _, Full};
use hyper::{body::Incoming, client::conn::http1::SendRequest};
use serde_json::{Value, json};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::sync::{Mutex, mpsc};

type CycleConnection = SendRequest<Full<Bytes>>;

/// The result of a measurement: the duration of each cycle.
pub(crate) struct Cycles {
    millis: Vec<f64>,
    elapsed: Duration,
}

impl Cycles {
    pub(crate) fn per_second(&self) -> f64 {
        self.millis.len() as f64 / self.elapsed.as_secs_f64()
    }

    pub(crate) fn quantile_ms(&self, q: f64) -> f64 {
        let place = (self.millis.len() as f64 * q) as usize;
        self.millis.get(place.min(self.millis.len().saturating_sub(1))).copied().unwrap_or_default()
    }
}

/// Runs cycles for `length`, `in_flight` at a time.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures")]
pub(crate) async fn run(server: &Server, in_flight: usize, length: Duration) -> anyhow::Result<Cycles> {
    let (questions, heard) = mpsc::channel(4096);
    let subscription = subscribe(server).await?;
    let listening = listen(server, &subscription, questions).await?;
    let heard = Arc::new(Mutex::new(heard));
    let mut answering = Vec::new();
    for _ in 0..in_flight {
        let hand = connect(&server.ready.address).await?;
        let (token, heard) = (server.ready.subscriber.clone(), Arc::clone(&heard));
        answering.push(tokio::spawn(answer(hand, token, subscription.clone(), heard, server.ready.address.clone())));
    }
    let started = Instant::now();
    let mut asking = Vec::new();
    for n in 0..in_flight {
        let agent = server.ready.agents.get(n % server.ready.agents.len()).context("no agent")?.clone();
        asking.push(tokio::spawn(ask(server.ready.address.clone(), agent, started + length)));
    }
    let mut millis = Vec::new();
    for one in asking {
        millis.extend(one.await??);
    }
    let elapsed = started.elapsed();
    listening.abort();
    answering.iter().for_each(tokio::task::JoinHandle::abort);
    ensure!(!millis.is_empty(), "no cycle was finished");
    millis.sort_by(f64::total_cmp);
    Ok(Cycles { millis, elapsed })
}

/// One agent: asks, waits until it is woken, and starts again.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures")]
async fn ask(address: String, agent: String, until: Instant) -> anyhow::Result<Vec<f64>> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut connection = connect(&address).await?;
    let mut took = Vec::new();
    while Instant::now() < until {
        let began = Instant::now();
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let body = json!({
            "action": "Transfer USD 82,000.00 to account 3344",
            "consequence": "The money leaves the account and cannot be called back",
            "tool": "payments.send",
            "arguments": { "to": "acct-3344", "amount": "82000.00", "n": format!("{n}-{agent}") },
        });
        let raised = send(&mut connection, &address, Method::POST, "/v1/confirmations", &agent, Some(&body)).await?;
        ensure!(raised.0 == 201, "raise: {} {}", raised.0, raised.1);
        let id = raised.1["decision_id"].as_str().context("no decision")?;
        let path = format!("/v1/decisions/{id}?wait=30");
        let settled = send(&mut connection, &address, Method::GET, &path, &agent, None).await?;
        ensure!(settled.1["state"] == "accepted", "wait: {} {}", settled.0, settled.1);
        took.push(began.elapsed().as_secs_f64() * 1e3);
    }
    Ok(took)
}

/// One worker of the person's subscriber: approves one question after the other.
async fn answer(
    mut connection: CycleConnection,
    token: String,
    subscription: String,
    heard: Arc<Mutex<mpsc::Receiver<String>>>,
    address: String,
) -> anyhow::Result<()> {
    loop {
        let next = heard.lock().await.recv().await;
        let Some(reply_token) = next else { return Ok(()) };
        let body = json!({
            "type": "confirmation.reply",
            "reply_token": reply_token,
            "decision": "accept",
            "subscription_id": subscription,
            "timestamp": now(),
        });
        let (status, _) =
            send(&mut connection, &address, Method::POST, "/aaep/v1/replies", &token, Some(&body)).await?;
        ensure!(status == 204, "reply: {status}");
    }
}

#[expect(clippy::disallowed_methods, reason = "the server goes by the clock on the wall, and so does the generator")]
fn now() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let millis = i64::try_from(since.as_millis()).unwrap_or(0);
    countersign_protocol::aaep::envelope::timestamp(countersign_protocol::time::UnixMillis(millis))
}

async fn subscribe(server: &Server) -> anyhow::Result<String> {
    let mut connection = connect(&server.ready.address).await?;
    let body = json!({
        "type": "subscription.request", "aaep_version": "1.0.0", "subscriber_id": "bench",
        "capabilities": { "supports_confirmation_reply": true },
    });
    let path = "/aaep/v1/subscriptions";
    let (address, token) = (&server.ready.address, &server.ready.subscriber);
    let (status, accepted) = send(&mut connection, address, Method::POST, path, token, Some(&body)).await?;
    ensure!(status == 201, "subscribe: {status} {accepted}");
    Ok(accepted["subscription_id"].as_str().context("no subscription")?.to_owned())
}

/// The one event stream; it hands the reply tokens of questions to the workers.
async fn listen(
    server: &Server,
    subscription: &str,
    questions: mpsc::Sender<String>,
) -> anyhow::Result<tokio::task::JoinHandle<anyhow::Result<()>>> {
    let mut connection = connect(&server.ready.address).await?;
    let request = Request::get(format!("/aaep/v1/events?subscription_id={subscription}"))
        .header("host", &server.ready.address)
        .header("accept", "text/event-stream")
        .header("authorization", format!("Bearer {}", server.ready.subscriber))
        .body(Full::default())?;
    connection.ready().await?;
    let response = connection.send_request(request).await?;
    ensure!(response.status() == 200, "events: {}", response.status());
    Ok(tokio::spawn(async move {
        let _kept = connection;
        hear(response.into_body(), questions).await
    }))
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

async fn send(
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
