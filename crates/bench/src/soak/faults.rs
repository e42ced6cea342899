//! Faults, one after the other, at seeded moments. Each is bounded: it ends, and the nodes are ready before the next one.

use super::{
    load::Load,
    node::SoakNode,
    program,
    random::Random,
    record::{FaultMark, Micros},
};
use anyhow::{Context as _, ensure};
use clap::ValueEnum;
use countersign_testkit::postgres;
use std::{path::Path, sync::Arc, time::Duration};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum InjectedFault {
    /// kill -9, and another start
    Kill,
    /// SIGSTOP for some seconds, also longer than a lease
    Stop,
    /// Restart of PostgreSQL, fast or immediate
    Postgres,
    /// The clock steps forward or back, and returns
    Clock,
    /// The disk is full (SQLite)
    Disk,
    /// An older backup is restored (SQLite)
    Restore,
}

impl InjectedFault {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Stop => "stop",
            Self::Postgres => "postgres",
            Self::Clock => "clock",
            Self::Disk => "disk",
            Self::Restore => "restore",
        }
    }

    pub(super) fn is_for(self, on_postgres: bool) -> bool {
        match self {
            Self::Kill | Self::Stop | Self::Clock => true,
            Self::Postgres => on_postgres,
            Self::Disk | Self::Restore => !on_postgres,
        }
    }
}

/// The shortest time without a fault, in milliseconds.
const QUIET_MS: u64 = 1500;
/// From the end of a fault until a node is ready by itself.
const RECOVERY: Duration = Duration::from_secs(45);
/// Small files can still be written to, as on a real disk; the write-ahead log cannot grow.
const FULL_AT: u64 = 16 * 1024;
/// How far a clock steps, in milliseconds.
const CLOCK_STEP_MS: u64 = 2000;

pub(super) struct Faults {
    load: Arc<Load>,
    nodes: Vec<Arc<SoakNode>>,
    kinds: Vec<InjectedFault>,
    random: Random,
    /// The longest time without a fault, in milliseconds.
    quiet_ms: u64,
    /// Prints one line for each fault.
    says: fn(&str),
}

impl Faults {
    pub(super) fn new(
        load: &Arc<Load>,
        nodes: &[Arc<SoakNode>],
        (kinds, length): (Vec<InjectedFault>, Duration),
        says: fn(&str),
    ) -> Self {
        let random = Random::of(load.seed, "faults");
        // A long run also shows the nodes between faults.
        let quiet_ms = (length.as_secs() * 1000 / 40).clamp(3 * QUIET_MS, 20 * QUIET_MS);
        Self { load: Arc::clone(load), nodes: nodes.to_vec(), kinds, random, quiet_ms, says }
    }

    /// Every kind in turn, in another order each time, until the load ends.
    pub(super) async fn strike(mut self) -> anyhow::Result<()> {
        loop {
            let mut kinds = self.kinds.clone();
            self.random.shuffle(&mut kinds);
            if kinds.is_empty() {
                self.load.all_faults_were_made();
                return Ok(());
            }
            for kind in kinds {
                let quiet = self.random.millis(QUIET_MS, self.quiet_ms);
                tokio::time::sleep(quiet).await;
                if self.load.is_over() {
                    return Ok(());
                }
                self.one(kind).await.with_context(|| format!("the fault {}", kind.name()))?;
            }
            self.load.all_faults_were_made();
        }
    }

    async fn one(&mut self, kind: InjectedFault) -> anyhow::Result<()> {
        let node = Arc::clone(&self.nodes[self.random.below(self.nodes.len())]);
        let began = self.load.record.now();
        let detail = match kind {
            InjectedFault::Kill => self.kill(&node).await,
            InjectedFault::Stop => self.stop(&node).await,
            InjectedFault::Postgres => self.restart_postgres().await,
            InjectedFault::Clock => self.step_clock(&node).await,
            InjectedFault::Disk => self.fill_disk(&node).await,
            InjectedFault::Restore => self.restore(&node).await,
        }?;
        let detail = self.recover(kind, detail).await?;
        let ended = self.load.record.now();
        (self.says)(&format!(
            "{:7.1} s  {}: {detail}; ready after {:.1} s",
            seconds(began),
            kind.name(),
            seconds(ended - began)
        ));
        self.load.record.pages().faults.push(FaultMark { name: kind.name(), detail, began, ended });
        Ok(())
    }

    async fn kill(&mut self, node: &SoakNode) -> anyhow::Result<String> {
        node.kill()?;
        let down = self.random.millis(0, 1500);
        tokio::time::sleep(down).await;
        node.start().await?;
        Ok(format!("{} killed, started again after {} ms", node.name, down.as_millis()))
    }

    async fn stop(&mut self, node: &SoakNode) -> anyhow::Result<String> {
        let pause = self.random.millis(1000, 7000);
        node.signal("STOP")?;
        tokio::time::sleep(pause).await;
        node.signal("CONT")?;
        Ok(format!("{} was stopped for {} ms", node.name, pause.as_millis()))
    }

    async fn restart_postgres(&mut self) -> anyhow::Result<String> {
        let mode = if self.random.percent(50) { "fast" } else { "immediate" };
        postgres::restart(mode).await;
        Ok(format!("PostgreSQL restarted ({mode})"))
    }

    async fn step_clock(&mut self, node: &SoakNode) -> anyhow::Result<String> {
        let step = self.random.millis(500, CLOCK_STEP_MS).as_secs_f64();
        let step = if self.random.percent(50) { step } else { -step };
        node.set_clock(step)?;
        tokio::time::sleep(self.random.millis(1500, 4000)).await;
        node.set_clock(0.0)?;
        Ok(format!("the clock of {} went {step:+.3} s, and back", node.name))
    }

    async fn fill_disk(&mut self, node: &SoakNode) -> anyhow::Result<String> {
        let full = self.random.millis(1500, 4000);
        program::limit_files(node.pid(), Some(FULL_AT))?;
        tokio::time::sleep(full).await;
        program::limit_files(node.pid(), None)?;
        Ok(format!("the disk of {} was full for {} ms", node.name, full.as_millis()))
    }

    /// Acknowledgements since the backup are forgotten, and nothing of them may run again.
    async fn restore(&mut self, node: &SoakNode) -> anyhow::Result<String> {
        let from = self.load.record.now();
        program::run_aside(&node.folder, &["backup", "backup.db"]).await?;
        let age = self.random.millis(1000, 4000);
        tokio::time::sleep(age).await;
        node.stop().await?;
        program::run_aside(&node.folder, &["restore", "backup.db"]).await?;
        self.load.record.pages().forgotten.push((from, self.load.record.now()));
        remove_backups(&node.folder)?;
        node.start().await?;
        program::run_aside(&node.folder, &["delegation", "lift", "--all"]).await?;
        Ok(format!("{} restored from a backup of {} ms before", node.name, age.as_millis()))
    }

    /// Every node must become ready by itself. One that does not is stuck, and is restarted so that the run can continue.
    async fn recover(&self, kind: InjectedFault, mut detail: String) -> anyhow::Result<String> {
        for node in &self.nodes {
            if node.is_ready_within(RECOVERY).await {
                continue;
            }
            let what = format!("{} was not ready {} s after the fault {}", node.name, RECOVERY.as_secs(), kind.name());
            (self.says)(&format!("{what}; it is started again. The end of its log:\n{}", node.end_of_log()));
            node.kill()?;
            node.start().await?;
            ensure!(node.is_ready_within(RECOVERY).await, "{what}, nor after another start");
            detail = format!("{detail}; {what}");
            self.load.record.pages().stuck.push(what);
        }
        Ok(detail)
    }
}

/// The replaced database is as large as the current one.
fn remove_backups(folder: &Path) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name == "backup.db" || name.contains(".replaced-") {
            std::fs::remove_file(path)?;
        }
    }
    Ok(())
}

pub(super) fn seconds(micros: Micros) -> f64 {
    micros as f64 / 1e6
}
