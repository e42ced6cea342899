//! Load benchmarks, measured as ratios within one run (never as a timed test).
//!
//! The unit is V, one ES256 verification on this machine in this run. The server is a separate process, so that its CPU
//! time can be read apart from the generator's.

#![expect(clippy::indexing_slicing, reason = "a benchmark that sends the wrong thing fails at once")]

mod allowances;
mod child;
mod clarification;
mod cpu;
mod decisions;
mod gateway;
mod load;
mod peers;
mod revocation;
mod soak;
mod sweep;

use clap::{Args, Parser, ValueEnum};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "countersign bench", about = "Benchmarks of Countersign, as ratios in one run")]
enum Command {
    /// `POST /agent/register` with operator JWT, delegation and receipt, against the bare signature checks.
    Register(Load),
    /// A read through the tower layer with a Bearer token: token check, usage count, durable audit entry.
    Calls(Load),
    /// Request, delivery, reply, wake-up: cycles a second, deliveries, memory, and the peers in the same run.
    Decisions(Load),
    /// Token, DPoP, scope, limits and durable audit of one call, beside nginx and common alternatives.
    Gateway(gateway::Arguments),
    /// Matching a call against the open allowances of its session, against one verification.
    Allowances,
    /// Looking for gaps in a plan, and proving a chain of 10,000 rounds against its signatures alone.
    Clarification,
    /// The time of the sweep that ends delegations by their time and inactivity, a second of service.
    Sweep(sweep::SweepArguments),
    /// The time from a revocation under load to the last caller's refusal.
    Revocation(revocation::RevocationArguments),
    /// Held calls, reads and writes against an unreliable upstream while nodes are killed, stopped, starved and restored.
    ///
    /// Exit code 0: nothing was done twice, lost, falsely denied, stuck or contradicted. 1: something was, or the run
    /// broke off.
    #[command(override_usage = "countersign soak [OPTIONS]")]
    Soak(soak::Arguments),
    /// A process of the gateway's benchmark; for the benchmark itself.
    #[command(hide = true)]
    GatewayPart(gateway::MeasuredPart),
}

#[derive(Args)]
struct Load {
    #[arg(long, value_enum, default_value = "sqlite")]
    store: StoreKind,
    /// Requests in flight.
    #[arg(long, default_value_t = 64)]
    in_flight: usize,
    /// Rounds of a second each.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Runs as the server of a benchmark; for the benchmark itself.
    #[arg(long, hide = true)]
    child: bool,
    /// What that server prepares, as JSON.
    #[arg(long, hide = true)]
    scenario: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Benchmark {
    Register,
    Calls,
    Decisions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum StoreKind {
    Sqlite,
    Postgres,
}

fn main() -> anyhow::Result<ExitCode> {
    match Command::parse() {
        Command::Soak(arguments) => on_all_cores(async { Ok(soak::run(arguments).await) }),
        command => bench(command).map(|()| ExitCode::SUCCESS),
    }
}

fn bench(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Register(load) => on_all_cores(run(Benchmark::Register, load)),
        Command::Calls(load) => on_all_cores(run(Benchmark::Calls, load)),
        Command::Decisions(load) => on_all_cores(run(Benchmark::Decisions, load)),
        Command::Allowances => allowances::run(),
        Command::Clarification => clarification::run(),
        Command::Sweep(arguments) => on_all_cores(sweep::run(arguments)),
        Command::Revocation(arguments) => on_all_cores(revocation::run(arguments)),
        Command::Gateway(arguments) => gateway::run(&arguments),
        Command::GatewayPart(part) => on_all_cores(gateway::run_part(part)),
        Command::Soak(arguments) => on_all_cores(async { Ok(soak::run(arguments).await) }).map(drop),
    }
}

fn on_all_cores<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(work)
}

async fn run(what: Benchmark, arguments: Load) -> anyhow::Result<()> {
    if let (true, Some(scenario)) = (arguments.child, &arguments.scenario) {
        return decisions::child(arguments.store, serde_json::from_str(scenario)?).await;
    }
    if what == Benchmark::Decisions {
        return decisions::run(arguments.store, arguments.in_flight).await;
    }
    if arguments.child {
        return child::run(what, arguments.store).await;
    }
    let server = load::Server::start(what, arguments.store).await?;
    let verification = cpu::one_verification()?;
    let rounds = load::rounds(&server, arguments.in_flight, arguments.rounds).await?;
    load::print(what, arguments.store, verification, &rounds);
    Ok(())
}
