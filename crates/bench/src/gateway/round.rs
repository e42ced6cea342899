//! One contender's turn: a fixed number of connections, each sending its next request after the last response.

use super::{processes, signing::Signer, wire::LoadConnection};
use crate::cpu;
use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

/// A participant of the benchmark.
pub(super) struct Contender {
    pub(super) name: &'static str,
    pub(super) signer: Signer,
    pub(super) roots: Vec<u32>,
    /// Its database server, if that is a process of its own.
    pub(super) database: Vec<u32>,
    pub(super) addresses: Vec<SocketAddr>,
    /// Calls a second of the last turn; it determines how many requests to sign for the next.
    rate: f64,
}

/// The result of a turn.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoundResult {
    pub(crate) answered: usize,
    pub(crate) unexpected: usize,
    pub(crate) elapsed: Duration,
    pub(crate) cpu: Duration,
    pub(crate) database_cpu: Duration,
    pub(crate) latencies: Vec<Duration>,
    pub(crate) memory_mib: f64,
    /// V, measured just before.
    pub(crate) unit: Duration,
}

struct RoundCounters {
    requests: Vec<Vec<u8>>,
    next: AtomicUsize,
    over: AtomicBool,
}

#[derive(Default)]
struct Done {
    latencies: Vec<Duration>,
    unexpected: usize,
}

impl Contender {
    pub(super) fn new(name: &'static str, signer: Signer, roots: Vec<u32>, addresses: Vec<SocketAddr>) -> Self {
        Self { name, signer, roots, database: Vec::new(), addresses, rate: 4000.0 }
    }

    /// Signs ahead, and then measures.
    pub(super) async fn turn(&mut self, in_flight: usize, length: Duration) -> anyhow::Result<RoundResult> {
        let enough = (self.rate * 1.5 * length.as_secs_f64()) as usize + 4 * in_flight;
        let requests = self.signer.ahead(enough)?;
        self.send(requests, in_flight, length).await
    }

    /// Sends `count` calls, without a time limit.
    pub(super) async fn exactly(&mut self, count: usize, in_flight: usize) -> anyhow::Result<RoundResult> {
        let requests = self.signer.ahead(count)?;
        self.send(requests, in_flight, Duration::MAX).await
    }

    #[expect(clippy::disallowed_methods, reason = "a benchmark measures")]
    async fn send(
        &mut self,
        requests: Vec<Vec<u8>>,
        in_flight: usize,
        length: Duration,
    ) -> anyhow::Result<RoundResult> {
        // New connections for each turn: idle ones may have been closed during the turns of others.
        let mut connections = Vec::new();
        for n in 0..in_flight {
            connections.push(LoadConnection::open(self.addresses[n % self.addresses.len()]).await?);
        }
        let shared = Arc::new(RoundCounters { requests, next: AtomicUsize::new(0), over: AtomicBool::new(false) });
        let (processes, database) = (processes::tree(&self.roots), processes::tree(&self.database));
        let (before, database_before, begun) = (cpu_of(&processes), cpu_of(&database), Instant::now());
        let tasks: Vec<_> =
            connections.into_iter().map(|connection| tokio::spawn(drive(connection, Arc::clone(&shared)))).collect();
        // Spins, so that no response has to wake this core up: that would cost the contender.
        while !tasks.iter().all(tokio::task::JoinHandle::is_finished) {
            if begun.elapsed() >= length {
                shared.over.store(true, Ordering::Relaxed);
            }
            tokio::task::yield_now().await;
        }
        let elapsed = begun.elapsed();
        let cpu = cpu_of(&processes).saturating_sub(before);
        let database_cpu = cpu_of(&database).saturating_sub(database_before);
        let mut turn = RoundResult { elapsed, cpu, database_cpu, ..RoundResult::default() };
        for task in tasks {
            let done = task.await?;
            turn.unexpected += done.unexpected;
            turn.latencies.extend(done.latencies);
        }
        turn.answered = turn.latencies.len();
        turn.memory_mib = processes::memory_mib(&processes);
        self.rate = turn.answered as f64 / elapsed.as_secs_f64();
        Ok(turn)
    }
}

/// A process that has ended meanwhile counts as zero.
pub(crate) fn cpu_of(processes: &[u32]) -> Duration {
    processes.iter().filter_map(|pid| cpu::of_process(&pid.to_string()).ok()).sum()
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures")]
async fn drive(mut connection: LoadConnection, shared: Arc<RoundCounters>) -> Done {
    let mut done = Done::default();
    while !shared.over.load(Ordering::Relaxed) {
        let Some(request) = shared.requests.get(shared.next.fetch_add(1, Ordering::Relaxed)) else { break };
        let sent = Instant::now();
        match connection.ask(request).await {
            Ok(200) => done.latencies.push(sent.elapsed()),
            Ok(_) => done.unexpected += 1,
            Err(_) => return Done { unexpected: done.unexpected + 1, ..done },
        }
    }
    done
}
