//! A figure without noise: instructions of one more call, counted by callgrind.
//!
//! The same is run with N and with N + 500 calls, one after the other, and the difference is divided. N is large enough
//! that every agent has called before. Under valgrind the library verifies by other code than on the bare machine, so the result is the
//! ratio to a verification counted in the same way.

use super::{
    Arguments,
    messages::Point,
    processes::ContenderProcess,
    start::{Field, LAYER, UP_FOR_S},
    upstream,
};
use crate::StoreKind;
use anyhow::Context as _;
use std::path::Path;

const AGENTS: usize = 100;
const FIRST: usize = 2 * AGENTS;
const MORE: usize = 500;
/// Groups of the writer differ from run to run, single calls do not.
const IN_FLIGHT: usize = 1;
/// A change by more than this part of the budget is a failure.
const TOLERANCE: f64 = 0.05;

/// What a call may cost, in instructions of a verification. An unoptimised build is counted by the same measure.
#[derive(serde::Deserialize)]
struct Budget {
    optimised: f64,
    unoptimised: f64,
}

pub(super) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let verification = (verifications(FIRST + MORE)? - verifications(FIRST)?) / MORE as f64;
    let call = (calls(FIRST + MORE).await? - calls(FIRST).await?) / MORE as f64;
    println!("instructions of a verification    {verification:12.0}");
    let ratio = call / verification;
    println!("instructions of a call, layer     {call:12.0}   {ratio:.3} ×");
    match &arguments.budget {
        Some(file) => keep(ratio, file),
        None => Ok(()),
    }
}

fn keep(ratio: f64, file: &Path) -> anyhow::Result<()> {
    let text = std::fs::read(file).with_context(|| format!("{} cannot be read", file.display()))?;
    let budget: Budget = serde_json::from_slice(&text).with_context(|| format!("{} is no budget", file.display()))?;
    let budget = if cfg!(debug_assertions) { budget.unoptimised } else { budget.optimised };
    println!("budget                                           {budget:.3} ×");
    let change = ratio / budget - 1.0;
    anyhow::ensure!(
        change.abs() <= TOLERANCE,
        "a call takes {ratio:.3} times a verification, {:+.1} % of the budget of {budget:.3}: find out why, or change {}",
        change * 100.0,
        file.display()
    );
    Ok(())
}

pub(crate) fn verifications(count: usize) -> anyhow::Result<f64> {
    counted(|under| {
        let (_process, _nanos) = ContenderProcess::own::<u64>(under, "verify", &count)?;
        Ok(())
    })
}

async fn calls(count: usize) -> anyhow::Result<f64> {
    let mut field = Field::prepare(StoreKind::Sqlite, upstream::open().await?, AGENTS)?;
    let log = Log::new();
    field.ours_under(&log.under(), LAYER, Point::Layer, UP_FOR_S)?;
    let layer = field.contenders.first_mut().context("nobody serves")?;
    let turn = layer.exactly(count, IN_FLIGHT).await?;
    anyhow::ensure!(turn.unexpected == 0, "{} unexpected answers", turn.unexpected);
    field.end_contenders();
    log.counted()
}

fn counted(run: impl FnOnce(&[&str]) -> anyhow::Result<()>) -> anyhow::Result<f64> {
    let log = Log::new();
    run(&log.under())?;
    log.counted()
}

/// The file in which callgrind reports its count.
pub(crate) struct Log {
    argument: String,
}

impl Log {
    pub(crate) fn new() -> Self {
        let file = std::env::temp_dir().join(format!("countersign-bench-{}.callgrind", std::process::id()));
        Self { argument: format!("--log-file={}", file.display()) }
    }

    pub(crate) fn under(&self) -> [&str; 4] {
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", &self.argument]
    }

    pub(crate) fn counted(&self) -> anyhow::Result<f64> {
        let (_, file) = self.argument.split_once('=').context("no file")?;
        let said = std::fs::read_to_string(Path::new(file))?;
        let line = said.lines().find_map(|line| line.split_once("Collected :"));
        let (_, count) = line.context("callgrind counted nothing: install the Debian package `valgrind`")?;
        Ok(count.trim().parse()?)
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        let _removed = self.argument.split_once('=').map(|(_, file)| std::fs::remove_file(file));
    }
}
