//! The generator of single requests: a fixed number of connections, each sending its next request after the last response.

use crate::{
    child::ServerProcess,
    gateway::RoundResult,
    rounds::{Load, Meter},
};
use anyhow::ensure;
use bytes::Bytes;
use futures_util::future::try_join_all;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use std::{
    cell::RefCell,
    time::{Duration, Instant},
};
use tokio::net::TcpStream;

pub(crate) type HttpRequest = Request<Full<Bytes>>;

/// Builds the requests of a load before each turn, so that signing them takes no measured time.
pub(crate) trait RequestSource {
    fn ahead(&mut self, count: usize) -> anyhow::Result<Vec<HttpRequest>>;
}

pub(crate) struct RequestLoad<S, T> {
    name: &'static str,
    server: ServerProcess<T>,
    source: S,
    in_flight: usize,
    /// Responses a second in the last turn; it determines how many requests to build for the next.
    rate: f64,
}

impl<S: RequestSource, T> RequestLoad<S, T> {
    pub(crate) fn new(name: &'static str, server: ServerProcess<T>, source: S, in_flight: usize) -> Self {
        Self { name, server, source, in_flight, rate: 4000.0 }
    }

    /// Sends `count` requests, without a time limit.
    pub(crate) async fn exactly(&mut self, count: usize) -> anyhow::Result<RoundResult> {
        let requests = self.source.ahead(count)?;
        self.send(requests, Duration::MAX).await
    }

    async fn send(&mut self, requests: Vec<HttpRequest>, length: Duration) -> anyhow::Result<RoundResult> {
        // New connections for each turn: idle ones may have been closed during the turns of others.
        let mut connections = Vec::new();
        for _ in 0..self.in_flight {
            connections.push(connect(&self.server.address).await?);
        }
        let (requests, meter) = (RefCell::new(requests.into_iter()), self.server.meter());
        // All are polled in one task, so that the generator stays on one core.
        let done = try_join_all(connections.into_iter().map(|to| drive(to, &requests, &meter, length))).await?;
        let round = meter.stop(done.concat());
        ensure!(round.answered > 0, "{}: no request was answered", self.name);
        self.rate = round.answered as f64 / round.elapsed.as_secs_f64();
        Ok(round)
    }
}

impl<S: RequestSource, T> Load for RequestLoad<S, T> {
    fn name(&self) -> &'static str {
        self.name
    }

    async fn turn(&mut self, length: Duration) -> anyhow::Result<RoundResult> {
        let enough = (self.rate * 1.5 * length.as_secs_f64()) as usize + 4 * self.in_flight;
        let requests = self.source.ahead(enough)?;
        self.send(requests, length).await
    }
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures")]
async fn drive(
    mut connection: SendRequest<Full<Bytes>>,
    requests: &RefCell<std::vec::IntoIter<HttpRequest>>,
    meter: &Meter,
    length: Duration,
) -> anyhow::Result<Vec<Duration>> {
    let mut latencies = Vec::new();
    while meter.elapsed() < length {
        let Some(request) = requests.borrow_mut().next() else { break };
        let sent = Instant::now();
        connection.ready().await?;
        let response = connection.send_request(request).await?;
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        ensure!(status.is_success(), "an unexpected answer: {status} {}", String::from_utf8_lossy(&body));
        latencies.push(sent.elapsed());
    }
    Ok(latencies)
}

#[expect(clippy::disallowed_methods, reason = "the benchmark connects to the server that it started, on loopback")]
pub(crate) async fn connect(address: &str) -> anyhow::Result<SendRequest<Full<Bytes>>> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(sender)
}
