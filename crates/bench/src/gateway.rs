//! The cost of one verified, durably audited call, compared with a proxy without checks and with common alternatives.
//!
//! All contenders run at once. They share one core and take turns of a second; the generator spins on the other and signs
//! its requests ahead, between the turns. V is measured before each turn, so that a ratio compares measurements of the
//! same second or two.

mod chart;
mod figures;
mod flat;
mod instructions;
mod judge;
mod messages;
mod nginx;
mod node;
mod parts;
mod processes;
mod report;
mod round;
mod signing;
mod start;
mod unit;
mod upstream;
mod wire;

pub(crate) use figures::Figures;
#[cfg(test)]
pub(crate) use figures::Spread;
pub(crate) use instructions::{Log, verifications};
pub(crate) use parts::{MeasuredPart, postmaster, run_part};
pub(crate) use processes::{memory_mib, tree as process_tree};
pub(crate) use round::{RoundResult, cpu_of};
pub(crate) use unit::one_verification;

use crate::StoreKind;
use clap::ValueEnum;
use processes::ContenderProcess;
use report::{Block, GatewayReport};
use round::Contender;
use start::{FASTIFY_JOSE, Field, NGINX, OIDC_PROVIDER};
use std::{path::PathBuf, time::Duration};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Turns of a second for each contender, after a warm-up.
    #[arg(long, visible_alias = "seconds", default_value_t = 7)]
    rounds: usize,
    /// Requests in flight.
    #[arg(long, default_value_t = 64)]
    in_flight: usize,
    #[arg(long, value_enum, default_value = "both")]
    store: Stores,
    /// Only these contenders: nginx, proxy, layer, oidc-provider, "fastify + jose".
    #[arg(long, value_delimiter = ',')]
    only: Option<Vec<String>>,
    /// Leaves contenders out; the ratios to them are then null.
    #[arg(long, value_enum, value_delimiter = ',')]
    without: Vec<Without>,
    /// One JSON object instead of a table.
    #[arg(long)]
    json: bool,
    /// Draws the figures as SVG.
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
    /// Shows instead which figures stay flat while delegations, audit entries and used proofs grow.
    #[arg(long)]
    flat: bool,
    /// Counts instead the instructions of a call and of a verification, under callgrind.
    #[arg(long, conflicts_with = "flat")]
    instructions: bool,
    /// With --instructions: fails if a call differs from this budget by more than 5 %.
    #[arg(long, value_name = "FILE", requires = "instructions")]
    budget: Option<PathBuf>,
    /// How many delegations there are in the end, with --flat.
    #[arg(long, default_value_t = 20_000)]
    delegations: usize,
    /// How many calls were made in the end, with --flat.
    #[arg(long, default_value_t = 1_000_000)]
    calls: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Stores {
    Sqlite,
    Postgres,
    Both,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Without {
    Nginx,
    Peers,
}

impl Arguments {
    fn wants(&self, name: &str) -> bool {
        let left_out = self.without.iter().any(|without| match without {
            Without::Nginx => name == NGINX,
            Without::Peers => [OIDC_PROVIDER, FASTIFY_JOSE].contains(&name),
        });
        !left_out && self.only.as_ref().is_none_or(|only| only.iter().any(|one| one == name))
    }

    fn stores(&self) -> &'static [StoreKind] {
        match self.store {
            Stores::Sqlite => &[StoreKind::Sqlite],
            Stores::Postgres => &[StoreKind::Postgres],
            Stores::Both => &[StoreKind::Sqlite, StoreKind::Postgres],
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    processes::take_the_other_core()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if arguments.flat {
        return runtime.block_on(flat::run(arguments));
    }
    if arguments.instructions {
        return runtime.block_on(instructions::run(arguments));
    }
    let report = runtime.block_on(measure(arguments))?;
    if let Some(file) = &arguments.chart {
        std::fs::write(file, chart::draw(&report))?;
    }
    match arguments.json {
        true => println!("{}", serde_json::to_string_pretty(&report.json())?),
        false => print!("{report}"),
    }
    Ok(())
}

async fn measure(arguments: &Arguments) -> anyhow::Result<GatewayReport> {
    let mut blocks = Vec::new();
    for store in arguments.stores() {
        let mut field = Field::set_up(*store, arguments).await?;
        let nodes = field.contenders.iter().map(|contender| contender.addresses.len()).max().unwrap_or(1);
        let contenders = take_turns(&mut field.contenders, arguments).await?;
        blocks.push(Block { store: *store, nodes, contenders });
    }
    Ok(GatewayReport { rounds: arguments.rounds, in_flight: arguments.in_flight, blocks })
}

const TURN: Duration = Duration::from_secs(1);

/// Discards turns with an unexpected response; a contender without any counted turn fails the run.
async fn take_turns(contenders: &mut [Contender], arguments: &Arguments) -> anyhow::Result<Vec<Figures>> {
    let mut turns: Vec<Vec<RoundResult>> = contenders.iter().map(|_| Vec::new()).collect();
    for round in 0..=arguments.rounds {
        for (contender, turns) in contenders.iter_mut().zip(&mut turns) {
            let unit = unit()?;
            let turn = RoundResult { unit, ..contender.turn(arguments.in_flight, TURN).await? };
            if turn.unexpected > 0 {
                eprintln!("{}: a turn was thrown away, {} unexpected answers", contender.name, turn.unexpected);
            } else if round > 0 {
                turns.push(turn);
            }
        }
        eprintln!("round {round} of {} is over", arguments.rounds);
    }
    let named = contenders.iter().zip(turns);
    let figures: Vec<Figures> = named.map(|(contender, turns)| Figures::of(contender.name, &turns)).collect();
    let silent = figures.iter().find(|figures| figures.turns == 0);
    anyhow::ensure!(silent.is_none(), "no turn of {} counted", silent.map_or("nobody", |figures| figures.name));
    Ok(figures)
}

/// V, on the contenders' core.
fn unit() -> anyhow::Result<Duration> {
    let (_process, nanos) = ContenderProcess::own::<u64>(&[], "unit", &())?;
    Ok(Duration::from_nanos(nanos))
}

#[cfg(test)]
mod tests;
