//! Decisions: an agent asks, a subscriber receives the question and answers, the agent is woken from its long poll. All durable.
//!
//! Besides the cycles: the cost of a delivery, the effect of many subscriptions or pending questions on a cycle, and
//! their memory. Common alternatives are measured in the same run.

mod cycles;
mod deliveries;
mod instructions;
mod results;
mod serving;
mod subscriber;

pub(crate) use serving::{Scenario, serve};

use crate::{
    StoreKind,
    peers::{self, Peer, PeerFigures},
    rounds::{RoundArguments, take_turns},
};
use clap::ValueEnum;
use cycles::CycleLoad;
use results::{MANY, MANY_BESIDE_FEW, MANY_BESIDE_OTHERS, MANY_BESIDE_PENDING, ONE, Results, ScenarioMemory};
use std::rc::Rc;
use subscriber::SubscribedServer;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    rounds: RoundArguments,
    /// Leaves parts out; their ratios are then null. Fewer than 3 seconds leave growth out, too.
    #[arg(long, value_enum, value_delimiter = ',')]
    without: Vec<Without>,
    /// Counts instead the instructions of a cycle and of a verification, under callgrind, and the bytes that a cycle writes.
    #[arg(long)]
    instructions: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Without {
    /// LangGraph and ctrlrun.
    Peers,
    /// 10,000 idle subscriptions, 100,000 pending questions, deliveries to many subscriptions.
    Growth,
}

/// Filling a server with questions takes longer than this.
const QUICK_BELOW_S: u32 = 3;

const OTHERS: usize = 10_000;
const PENDING: usize = 100_000;

impl Arguments {
    fn has_growth(&self) -> bool {
        !self.without.contains(&Without::Growth) && self.rounds.seconds >= QUICK_BELOW_S
    }

    /// The peers keep their state in SQLite.
    fn has_peers(&self) -> bool {
        !self.without.contains(&Without::Peers) && self.rounds.store == StoreKind::Sqlite
    }
}

pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.instructions {
        return instructions::run().await;
    }
    let of = &arguments.rounds;
    if arguments.has_peers() {
        peers::check_installed()?;
    }
    let mut results = cycles_of(arguments).await?;
    if arguments.has_growth() {
        results.deliveries = deliveries::measure(of.store)?;
    }
    if arguments.has_peers() {
        results.peers = beside(of.seconds)?;
    }
    results.report(of).print(of)
}

/// All servers are there from the beginning, so that a round of each load falls into the same seconds.
async fn cycles_of(arguments: &Arguments) -> anyhow::Result<Results> {
    let of = &arguments.rounds;
    let quiet = Rc::new(SubscribedServer::start(of.store, Scenario::default()).await?);
    let mut loads = vec![CycleLoad::new(ONE, &quiet, 1), CycleLoad::new(MANY, &quiet, of.in_flight())];
    let mut memory = Vec::new();
    if arguments.has_growth() {
        let grown = [
            (MANY_BESIDE_FEW, Scenario { others: 100, ..Scenario::default() }),
            (MANY_BESIDE_OTHERS, Scenario { others: OTHERS, ..Scenario::default() }),
            (MANY_BESIDE_PENDING, Scenario { pending: PENDING, ..Scenario::default() }),
        ];
        for (name, scenario) in grown {
            eprintln!("preparing: {name}");
            let server = Rc::new(SubscribedServer::start(of.store, scenario).await?);
            memory.push(ScenarioMemory { scenario, grown_kib: server.grown_kib() });
            loads.push(CycleLoad::new(name, &server, of.in_flight()));
        }
    }
    let loads = take_turns(&mut loads, of.rounds()).await?;
    Ok(Results { loads, memory, deliveries: Vec::new(), peers: Vec::new() })
}

/// Common alternatives, each as long as our two loads without growth together.
fn beside(seconds: u32) -> anyhow::Result<Vec<PeerFigures>> {
    let one = |peer: Peer| {
        eprintln!("measuring: {}", peer.name());
        peers::run(peer, seconds.saturating_mul(2))
    };
    Peer::ALL.into_iter().map(one).collect()
}
