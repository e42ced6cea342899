//! Load, measured as ratios within one run (never as a timed test).
//!
//! The unit is V, one ES256 verification on this machine in this run. The server is a process of its own, so
//! that its CPU time can be read apart from the generator's.

#![expect(clippy::indexing_slicing, reason = "a benchmark that sends the wrong thing fails at once")]

mod child;
mod cpu;
mod decisions;
mod load;
mod peers;
mod report;

use clap::{Parser, ValueEnum};

#[derive(Parser)]
#[command(about = "Benchmarks of Countersign, as ratios in one run")]
struct Arguments {
    what: What,
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
    scene: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum What {
    /// `POST /agent/register` with operator JWT, delegation and receipt, against the bare signature checks.
    Register,
    /// A read through the gateway: token check, usage count, durable audit entry.
    Calls,
    /// Ask, hear, answer, wake: cycles a second, deliveries, memory, and the peers in the same run.
    Decisions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StoreKind {
    Sqlite,
    Postgres,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    if let (true, Some(scene)) = (arguments.child, &arguments.scene) {
        return decisions::child(arguments.store, serde_json::from_str(scene)?).await;
    }
    if arguments.what == What::Decisions {
        return decisions::run(arguments.store, arguments.in_flight).await;
    }
    if arguments.child {
        return child::run(arguments.what, arguments.store).await;
    }
    let server = load::Server::start(arguments.what, arguments.store).await?;
    let verification = cpu::one_verification()?;
    let rounds = load::rounds(&server, arguments.in_flight, arguments.rounds).await?;
    report::print(arguments.what, arguments.store, verification, &rounds);
    Ok(())
}
