//! Hours of held calls, reads and writes against an unreliable upstream, while nodes are killed, stopped, starved and
//! restored.
//!
//! Everything is a real process. At the end the responses to agents, the effects at the upstream and the nodes' records
//! must agree exactly: the upstream identifies every effect by a marker in the request's body.

mod agent;
mod faults;
mod final_check;
mod findings;
mod held_calls;
mod histories;
mod http;
mod linearizability;
mod load;
mod node;
mod person;
mod plot;
mod program;
mod random;
mod record;
mod report;
mod setup;
mod summary;
mod upstream;

use agent::SoakAgent;
use anyhow::{Context as _, ensure};
use clap::ValueEnum as _;
use faults::{Faults, InjectedFault, seconds};
use findings::Findings;
use load::Load;
use node::SoakNode;
use person::SoakPerson;
use record::{ReportedResult, SoakRecord};
use report::{Run, SoakReport};
use setup::Setup;
use std::{path::PathBuf, process::ExitCode, sync::Arc, time::Duration};
use tokio::task::JoinHandle;
use upstream::RudeUpstream;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How long, in minutes, and at least until every kind of fault has struck. Without this, --seconds or --held: 10 minutes.
    #[arg(long, conflicts_with = "seconds")]
    minutes: Option<u64>,
    /// The same in seconds.
    #[arg(long)]
    seconds: Option<u64>,
    /// Stops after so many held calls, if that is sooner.
    #[arg(long, value_name = "N")]
    held: Option<usize>,
    /// Agents that call at a time.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=200))]
    agents: u16,
    /// Decides the load, the upstream's behaviour and the faults. Without it: another one each time.
    #[arg(long)]
    seed: Option<u64>,
    /// Two nodes over a PostgreSQL that is started for the run, in place of one node on SQLite.
    #[arg(long)]
    postgres: bool,
    /// Only these faults. Without it: all that the store can have.
    #[arg(long, value_enum, value_delimiter = ',')]
    faults: Option<Vec<InjectedFault>>,
    /// No faults at all, only the unreliable upstream.
    #[arg(long, conflicts_with = "faults")]
    no_faults: bool,
    /// One JSON object instead of a table.
    #[arg(long)]
    json: bool,
    /// Draws latency and memory over time as SVG, with a mark for every fault.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Keeps the folder of the nodes, with their logs and databases, and says where it is.
    #[arg(long)]
    keep: bool,
}

const PROGRESS: Duration = Duration::from_secs(5);
/// From the end of the load until every agent has finished its last operation.
const SETTLING: Duration = Duration::from_secs(180);

impl Arguments {
    fn length(&self) -> Duration {
        match (self.minutes, self.seconds, self.held) {
            (Some(minutes), _, _) => Duration::from_secs(minutes * 60),
            (_, Some(seconds), _) => Duration::from_secs(seconds),
            (None, None, Some(_)) => Duration::from_secs(24 * 3600),
            (None, None, None) => Duration::from_secs(600),
        }
    }

    fn kinds(&self) -> anyhow::Result<Vec<InjectedFault>> {
        if self.no_faults {
            return Ok(Vec::new());
        }
        let Some(chosen) = &self.faults else {
            return Ok(InjectedFault::value_variants()
                .iter()
                .copied()
                .filter(|fault| fault.is_for(self.postgres))
                .collect());
        };
        for fault in chosen {
            let store = if self.postgres { "PostgreSQL" } else { "SQLite; say --postgres" };
            ensure!(fault.is_for(self.postgres), "there is no fault {} on {store}", fault.name());
        }
        Ok(chosen.clone())
    }
}

pub(crate) async fn run(arguments: Arguments) -> ExitCode {
    match report(&arguments).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            print_line(&format!("error: {why:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Whether there are no findings.
async fn report(arguments: &Arguments) -> anyhow::Result<bool> {
    let kinds = arguments.kinds()?;
    program::needs(&[("setpriv", "util-linux"), ("prlimit", "util-linux"), ("kill", "procps")])?;
    let seed = arguments.seed.unwrap_or_else(|| countersign_engine::Clock::System.now().0.unsigned_abs() % 1_000_000);
    let record = Arc::new(SoakRecord::begin());
    let upstream = RudeUpstream::open(&record, seed).await?;
    let steps_clock = kinds.contains(&InjectedFault::Clock);
    let mut setup = Setup::prepare(upstream, arguments.postgres, steps_clock).await?;
    setup.folder.is_kept = arguments.keep;
    let folder = setup.folder.path.display().to_string();
    print_line(&format!(
        "seed {seed}; faults: {:?}; the nodes are in {folder}",
        kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>()
    ));
    let (pages, findings, nodes) = soak(arguments, seed, kinds, &record, setup).await?;
    let run = Run {
        store: if arguments.postgres { "postgres" } else { "sqlite" },
        nodes,
        agents: arguments.agents.into(),
        seed,
    };
    if let Some(file) = &arguments.plot {
        std::fs::write(file, plot::draw(&run, &pages))
            .with_context(|| format!("{} cannot be written", file.display()))?;
    }
    let is_clean = findings.is_clean();
    let report = SoakReport::of(&run, &pages, findings);
    match arguments.json {
        true => println!("{}", serde_json::to_string_pretty(&report)?),
        false => print!("{report}"),
    }
    if !is_clean && !arguments.keep {
        print_line(&format!("found something: run it again with --seed {seed} --keep to look at the nodes"));
    }
    Ok(is_clean)
}

async fn soak(
    arguments: &Arguments,
    seed: u64,
    kinds: Vec<InjectedFault>,
    record: &Arc<SoakRecord>,
    setup: Setup,
) -> anyhow::Result<(record::Pages, Findings, usize)> {
    let Setup { nodes, operator, origin, folder } = setup;
    for node in &nodes {
        node.start().await?;
    }
    let first = nodes.first().context("no node")?;
    let person = SoakPerson::sign_in(record, &first.public).await?;
    let load = Load::new((seed, arguments.held), Arc::clone(record), person, nodes.clone(), (operator, origin));
    let load = Arc::new(load);
    let mut agents = Vec::new();
    for number in 0..usize::from(arguments.agents) {
        agents.push(Arc::new(SoakAgent::connect(&load, number).await?));
    }
    let watching = tokio::spawn(watch(Arc::clone(&load), nodes.clone()));
    let working: Vec<_> =
        agents.iter().map(Arc::clone).map(|agent| tokio::spawn(async move { agent.work().await })).collect();
    let mut striking = tokio::spawn(Faults::new(&load, &nodes, (kinds, arguments.length()), print_line).strike());
    let broken = until_over(&load, arguments.length(), &mut striking).await;
    load.end();
    if !striking.is_finished() {
        striking.await??;
    }
    broken?;
    print_line(&format!("{:7.1} s  the load ends; every agent ends what it is doing", seconds(record.now())));
    settle(&load, &nodes, working).await;
    let remembered = final_check::collect_records(&load, &agents).await?;
    watching.abort();
    for node in &nodes {
        node.stop().await?;
    }
    drop(folder);
    let pages = std::mem::take(&mut *record.pages());
    let findings = Findings::of(&pages, &remembered);
    Ok((pages, findings, nodes.len()))
}

/// Runs until the time or the number of calls is reached, or a fault could not be made or undone.
async fn until_over(
    load: &Load,
    length: Duration,
    striking: &mut JoinHandle<anyhow::Result<()>>,
) -> anyhow::Result<()> {
    let enough = async {
        while !load.is_over() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let over = async {
        let late = async {
            tokio::time::sleep(length).await;
            while !load.has_seen_all_faults() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::select! {
            () = enough => {}
            () = late => {}
        }
    };
    tokio::pin!(over);
    tokio::select! {
        () = &mut over => return Ok(()),
        struck = striking => struck??,
    }
    // There are no faults to make; the load continues.
    over.await;
    Ok(())
}

/// The faults are over, so an agent that does not end is stuck.
async fn settle(load: &Load, nodes: &[Arc<SoakNode>], working: Vec<JoinHandle<()>>) {
    let mut stuck = Vec::new();
    let ended = tokio::time::timeout(SETTLING, async {
        for (number, agent) in working.into_iter().enumerate() {
            if agent.await.is_err() {
                stuck.push(format!("agent {number} broke off"));
            }
        }
    });
    if ended.await.is_err() {
        stuck.push(format!("an agent did not end within {} s", SETTLING.as_secs()));
    }
    for node in nodes {
        if !node.is_ready_within(Duration::from_secs(30)).await {
            stuck.push(format!("{} is not ready at the end:\n{}", node.name, node.end_of_log()));
        }
    }
    load.record.pages().stuck.extend(stuck);
}

/// Records memory every second, and prints progress.
async fn watch(load: Arc<Load>, nodes: Vec<Arc<SoakNode>>) {
    let mut next = PROGRESS;
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let memory: f64 = nodes.iter().map(|node| node.memory()).sum();
        let now = load.record.now();
        load.record.pages().memory.push((now, memory));
        if Duration::from_micros(now) >= next {
            next = Duration::from_micros(now) + PROGRESS;
            print_line(&progress(&load, memory));
        }
    }
}

fn progress(load: &Load, memory: f64) -> String {
    let now = load.record.now();
    let pages = load.record.pages();
    let ran = pages.attempts.iter().filter(|attempt| attempt.told == ReportedResult::Ran).count();
    let in_doubt = pages.attempts.iter().filter(|attempt| attempt.told == ReportedResult::InDoubt).count();
    let (held, faults, requests) = (load.held_calls(), pages.faults.len(), pages.attempts.len());
    format!(
        "{:7.1} s  {held} held calls, {requests} requests, {ran} ran, {in_doubt} in doubt, {faults} faults, {memory:.0} MiB",
        seconds(now)
    )
}

/// Progress goes to standard error, so that the report stays alone on standard output.
fn print_line(line: &str) {
    eprintln!("{line}");
}
