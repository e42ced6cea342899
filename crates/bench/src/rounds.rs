//! The measured part of a benchmark: loads take turns in rounds of equal length, and V is measured before each turn.

use crate::{
    StoreKind,
    gateway::{Figures, RoundResult, cpu_of, memory_mib, one_verification, process_tree},
};
use clap::Args;
use std::time::{Duration, Instant};

const AT_LEAST: u32 = 3;

/// The options that the benchmarks with a server of their own share.
#[derive(Args)]
pub(crate) struct RoundArguments {
    #[arg(long, value_enum, default_value = "sqlite")]
    pub(crate) store: StoreKind,
    /// Requests or cycles in flight.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=2000))]
    in_flight: u16,
    /// Measures each load for so long: in rounds of a second, or in three shorter ones.
    #[arg(long, alias = "rounds", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) seconds: u32,
    /// One JSON object instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

impl RoundArguments {
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.into()
    }

    pub(crate) fn rounds(&self) -> Rounds {
        Rounds::within(self.seconds)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rounds {
    pub(crate) count: u32,
    pub(crate) length: Duration,
}

impl Rounds {
    fn within(seconds: u32) -> Self {
        let count = seconds.max(AT_LEAST);
        Self { count, length: Duration::from_secs(seconds.into()) / count }
    }
}

/// Requests of one kind to one server.
pub(crate) trait Load {
    fn name(&self) -> &'static str;

    /// Fails after any unexpected response.
    async fn turn(&mut self, length: Duration) -> anyhow::Result<RoundResult>;
}

/// A turn each to warm up, and then the rounds.
pub(crate) async fn take_turns(loads: &mut [impl Load], rounds: Rounds) -> anyhow::Result<Vec<Figures>> {
    let mut turns: Vec<Vec<RoundResult>> = loads.iter().map(|_| Vec::new()).collect();
    for load in &mut *loads {
        load.turn(rounds.length).await?;
    }
    for round in 1..=rounds.count {
        for (load, turns) in loads.iter_mut().zip(&mut turns) {
            let unit = one_verification()?;
            turns.push(RoundResult { unit, ..load.turn(rounds.length).await? });
        }
        eprintln!("round {round} of {} is over", rounds.count);
    }
    Ok(loads.iter().zip(turns).map(|(load, turns)| Figures::of(load.name(), &turns)).collect())
}

/// The CPU time of a server and its database, from now on.
pub(crate) struct Meter {
    server: Vec<u32>,
    database: Vec<u32>,
    server_before: Duration,
    database_before: Duration,
    started: Instant,
}

impl Meter {
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures")]
    pub(crate) fn start(server: u32, database: &[u32]) -> Self {
        let (server, database) = (process_tree(&[server]), process_tree(database));
        let (server_before, database_before) = (cpu_of(&server), cpu_of(&database));
        Self { server, database, server_before, database_before, started: Instant::now() }
    }

    #[expect(clippy::disallowed_methods, reason = "a benchmark measures")]
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub(crate) fn stop(self, latencies: Vec<Duration>) -> RoundResult {
        RoundResult {
            elapsed: self.elapsed(),
            cpu: cpu_of(&self.server).saturating_sub(self.server_before),
            database_cpu: cpu_of(&self.database).saturating_sub(self.database_before),
            memory_mib: memory_mib(&self.server),
            answered: latencies.len(),
            latencies,
            ..RoundResult::default()
        }
    }
}

#[cfg(test)]
mod tests;
