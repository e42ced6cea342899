//! The load generator: a fixed number of connections, each sending its next request after the last response.

use crate::{Benchmark, StoreKind, cpu};
use anyhow::{Context as _, ensure};
use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::net::TcpStream;

pub(crate) struct Server {
    child: Child,
    what: Benchmark,
    address: String,
    path: String,
    requests: Arc<Vec<String>>,
}

/// One round: the number of responses, the time, and the server's CPU time.
pub(crate) struct Round {
    pub(crate) answered: usize,
    pub(crate) elapsed: Duration,
    pub(crate) server_cpu: Duration,
}

#[derive(serde::Deserialize)]
struct LoadReport {
    address: String,
    path: String,
    requests: Vec<String>,
}

impl Server {
    pub(crate) async fn start(what: Benchmark, store: StoreKind) -> anyhow::Result<Self> {
        let name = |value: &dyn std::fmt::Debug| format!("{value:?}").to_lowercase();
        let mut child = Command::new(std::env::current_exe()?)
            .args([&name(&what), "--store", &name(&store), "--child"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("no output")?).read_line(&mut line)?;
        let told: LoadReport = serde_json::from_str(&line).context("the server of the benchmark did not start")?;
        Ok(Self { child, what, address: told.address, path: told.path, requests: Arc::new(told.requests) })
    }

    fn request(&self, n: usize) -> anyhow::Result<Request<Full<Bytes>>> {
        let item = self.requests.get(n % self.requests.len()).context("nothing to send")?;
        let request = Request::builder().uri(&self.path).header("host", &self.address).header("aap-version", "2.0");
        Ok(match self.what {
            Benchmark::Register => request
                .method(Method::POST)
                .header("content-type", "application/json")
                .body(Full::from(item.clone()))?,
            Benchmark::Calls | Benchmark::Decisions => {
                let mut agent = item.split(' ');
                let mut next = || agent.next().context("an agent without token, session or delegation");
                request
                    .header("authorization", format!("Bearer {}", next()?))
                    .header("x-agent-mode", "user_delegated")
                    .header("x-agent-session", next()?)
                    .header("x-agent-delegation", next()?)
                    .header("x-agent-intent-type", "READ_CALENDAR")
                    .body(Full::default())?
            }
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ended = self.child.wait();
    }
}

/// A warm-up, then rounds of a second. A round with any unexpected response fails the run.
pub(crate) async fn rounds(server: &Server, in_flight: usize, count: usize) -> anyhow::Result<Vec<Round>> {
    let next = Arc::new(AtomicUsize::new(0));
    let mut connections = Vec::new();
    for _ in 0..in_flight {
        connections.push(connect(&server.address).await?);
    }
    let mut rounds = Vec::new();
    for n in 0..=count {
        let (round, back) = one_round(server, connections, &next).await?;
        connections = back;
        if n > 0 {
            rounds.push(round);
        }
    }
    Ok(rounds)
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures")]
async fn one_round(
    server: &Server,
    connections: Vec<SendRequest<Full<Bytes>>>,
    next: &Arc<AtomicUsize>,
) -> anyhow::Result<(Round, Vec<SendRequest<Full<Bytes>>>)> {
    let over = Arc::new(AtomicBool::new(false));
    let pid = server.child.id().to_string();
    let (before, started) = (cpu::of_process(&pid)?, Instant::now());
    let work = connections.into_iter().map(|connection| drive(server, connection, next, &over));
    let timer = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        over.store(true, Ordering::Relaxed);
        anyhow::Ok(())
    };
    let ((), done) = tokio::try_join!(timer, join_all(work))?;
    let answered = done.iter().map(|(n, _)| n).sum();
    let round = Round { answered, elapsed: started.elapsed(), server_cpu: cpu::of_process(&pid)? - before };
    Ok((round, done.into_iter().map(|(_, connection)| connection).collect()))
}

async fn join_all<T>(work: impl Iterator<Item = impl Future<Output = anyhow::Result<T>>>) -> anyhow::Result<Vec<T>> {
    let mut all: Vec<_> = work.map(Box::pin).collect();
    let mut done = Vec::new();
    // All are polled together in one task, so that the generator stays on one core.
    std::future::poll_fn(|context| {
        let mut n = 0;
        while let Some(one) = all.get_mut(n) {
            match one.as_mut().poll(context) {
                std::task::Poll::Ready(result) => {
                    drop(all.swap_remove(n));
                    done.push(result);
                }
                std::task::Poll::Pending => n += 1,
            }
        }
        if all.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    done.into_iter().collect()
}

async fn drive(
    server: &Server,
    mut connection: SendRequest<Full<Bytes>>,
    next: &AtomicUsize,
    over: &AtomicBool,
) -> anyhow::Result<(usize, SendRequest<Full<Bytes>>)> {
    let mut answered = 0;
    while !over.load(Ordering::Relaxed) {
        let request = server.request(next.fetch_add(1, Ordering::Relaxed))?;
        connection.ready().await?;
        let response = connection.send_request(request).await?;
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        ensure!(status.is_success(), "an unexpected answer: {status} {}", String::from_utf8_lossy(&body));
        answered += 1;
    }
    Ok((answered, connection))
}

#[expect(clippy::disallowed_methods, reason = "the benchmark connects to the server that it started, on loopback")]
pub(crate) async fn connect(address: &str) -> anyhow::Result<SendRequest<Full<Bytes>>> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(sender)
}
