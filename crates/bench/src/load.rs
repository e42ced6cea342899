//! The load generator: a fixed number of connections, each sending its next request after the last response.

use crate::{Benchmark, StoreKind, child::ServerProcess, cpu};
use anyhow::{Context as _, ensure};
use bytes::Bytes;
use futures_util::future::try_join_all;
use http::{Method, Request};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::net::TcpStream;

pub(crate) struct Server {
    process: ServerProcess,
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
        let arguments = [&name(&what), "--store", &name(&store), "--child"];
        let (process, ready): (_, LoadReport) = ServerProcess::start(&arguments)?;
        let LoadReport { address, path, requests } = ready;
        Ok(Self { process, what, address, path, requests: Arc::new(requests) })
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
    let pid = server.process.id().to_string();
    let (before, started) = (cpu::of_process(&pid)?, Instant::now());
    let work = connections.into_iter().map(|connection| drive(server, connection, next, &over));
    let timer = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        over.store(true, Ordering::Relaxed);
        anyhow::Ok(())
    };
    // All are polled in one task, so that the generator stays on one core.
    let ((), done) = tokio::try_join!(timer, try_join_all(work))?;
    let answered = done.iter().map(|(n, _)| n).sum();
    let round = Round { answered, elapsed: started.elapsed(), server_cpu: cpu::of_process(&pid)? - before };
    Ok((round, done.into_iter().map(|(_, connection)| connection).collect()))
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

/// The result of a run: medians beside the best, in V.
pub(crate) fn print(what: Benchmark, store: StoreKind, verification: Duration, rounds: &[Round]) {
    let v = verification.as_secs_f64();
    let mut cpu: Vec<f64> = rounds.iter().map(|r| r.server_cpu.as_secs_f64() / r.answered.max(1) as f64 / v).collect();
    let mut rate: Vec<f64> = rounds.iter().map(|r| r.answered as f64 / r.elapsed.as_secs_f64()).collect();
    cpu.sort_by(f64::total_cmp);
    rate.sort_by(f64::total_cmp);
    let (cpu_median, cpu_best) = (median(&cpu), cpu.first().copied().unwrap_or_default());
    println!("{what:?} on {store:?}: {} rounds", rounds.len());
    println!("  V (one ES256 verification)      {:8.1} µs", v * 1e6);
    println!(
        "  requests a second      median   {:8.0}   best {:8.0}",
        median(&rate),
        rate.last().copied().unwrap_or_default()
    );
    println!("  server CPU a request   median   {cpu_median:8.2} V best {cpu_best:8.2} V");
    if what == Benchmark::Register {
        // Operator JWT, delegation token and receipt.
        println!("  of the bound (3 V)     median   {:8.0} % best {:8.0} %", 300.0 / cpu_median, 300.0 / cpu_best);
    }
}

fn median(sorted: &[f64]) -> f64 {
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}
