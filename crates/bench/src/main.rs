//! Load benchmarks, measured as ratios within one run (never as a timed test).
//!
//! The unit is V, one ES256 verification on this machine in this run. The server is a separate process, so that its CPU
//! time can be read apart from the generator's.

#![expect(clippy::indexing_slicing, reason = "a benchmark that sends the wrong thing fails at once")]

mod allowances;
mod calls;
mod child;
mod clarification;
mod cpu;
mod decisions;
mod gateway;
mod load;
mod peers;
mod register;
mod report;
mod revocation;
mod rounds;
mod sealing;
mod soak;
mod sweep;

use clap::{Parser, ValueEnum};
use rounds::RoundArguments;
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "countersign bench", about = "Benchmarks of Countersign, as ratios in one run")]
enum Command {
    /// `POST /agent/register` with operator JWT, delegation, receipt and proof, against the bare signature checks.
    Register(register::RegisterArguments),
    /// A read through the tower layer with a Bearer token: token check, usage count, durable audit entry.
    Calls(RoundArguments),
    /// Request, delivery, reply, wake-up: cycles a second, deliveries, memory, and the peers in the same run.
    Decisions(decisions::Arguments),
    /// Token, DPoP, scope, limits and durable audit of one call, beside nginx and common alternatives.
    Gateway(gateway::Arguments),
    /// Matching a call against the open allowances of its session, against one verification.
    Allowances,
    /// Looking for gaps in a plan, and proving a chain of 10,000 rounds against its signatures alone.
    Clarification,
    /// The time of the sweep that ends delegations by their time and inactivity, a second of service.
    Sweep(sweep::SweepArguments),
    /// The CPU time of sealing a leaf of the evidence, and of a proof.
    Sealing(sealing::SealingArguments),
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
    /// The server of another benchmark; for the benchmark itself.
    #[command(hide = true)]
    ServerPart(child::ServerPart),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum StoreKind {
    Sqlite,
    Postgres,
}

/// As in the program that is measured.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> anyhow::Result<ExitCode> {
    match Command::parse() {
        Command::Soak(arguments) => on_all_cores(async { Ok(soak::run(arguments).await) }),
        command => bench(command).map(|()| ExitCode::SUCCESS),
    }
}

fn bench(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Register(arguments) => on_all_cores(register::run(&arguments)),
        Command::Calls(arguments) => on_all_cores(calls::run(&arguments)),
        Command::Decisions(arguments) => on_all_cores(decisions::run(&arguments)),
        Command::Allowances => allowances::run(),
        Command::Clarification => clarification::run(),
        Command::Sweep(arguments) => on_all_cores(sweep::run(arguments)),
        Command::Revocation(arguments) => on_all_cores(revocation::run(arguments)),
        Command::Sealing(arguments) => on_all_cores(sealing::run(arguments)),
        Command::Gateway(arguments) => gateway::run(&arguments),
        Command::GatewayPart(part) => on_all_cores(gateway::run_part(part)),
        Command::ServerPart(part) => on_all_cores(child::run(part)),
        Command::Soak(arguments) => on_all_cores(async { Ok(soak::run(arguments).await) }).map(drop),
    }
}

fn on_all_cores<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(work)
}
