//! Common alternatives for approvals, measured in the same run: `peers/*.py`, each a process of its own.
//!
//! A script runs cycles of ask, approve and resume on SQLite in a temporary folder, fails unless each of them
//! waited for its approval and then acted once, and prints one line of JSON.

use anyhow::{Context as _, ensure};
use serde::{Deserialize, Serialize};
use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    /// LangGraph's interrupt and resume with its SQLite checkpointer.
    LangGraph,
    /// ctrlrun with its SQLite store.
    Ctrlrun,
}

/// The figures of a peer, and their omissions.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PeerFigures {
    pub(crate) peer: String,
    pub(crate) version: String,
    /// One cycle at a time.
    #[serde(flatten)]
    pub(crate) alone: Cycles,
    /// Several threads, each with one cycle in flight.
    pub(crate) together: Cycles,
    /// The sync mode of SQLite there, and the crashes it survives.
    pub(crate) durable: String,
    pub(crate) does_not_do: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cycles {
    pub(crate) in_flight: usize,
    pub(crate) cycles: u64,
    pub(crate) seconds: f64,
    pub(crate) cycles_per_second: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
}

impl PeerFigures {
    /// Cycles a second, with one or with several in flight.
    pub(crate) fn best(&self) -> f64 {
        self.alone.cycles_per_second.max(self.together.cycles_per_second)
    }
}

/// So that a run without them fails before it has measured anything.
pub(crate) fn check_installed() -> anyhow::Result<()> {
    python(Path::new(ROOT)).map(drop)
}

/// Runs a peer for that many seconds, half of them alone and half together. Blocks.
pub(crate) fn run(peer: Peer, seconds: u32) -> anyhow::Result<PeerFigures> {
    let script = Path::new(SCRIPTS).join(peer.script());
    let python = python(Path::new(ROOT))?;
    let ran = Command::new(&python)
        // Without the caller's PYTHON* variables and packages: only pinned packages count.
        .args(["-B", "-E", "-s"])
        .arg(&script)
        .args(["--seconds", &seconds.to_string()])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("{} does not start", python.display()))?;
    ensure!(ran.status.success(), "{} failed ({})", peer.script(), ran.status);
    figures(peer, &ran.stdout)
}

/// The Python with the installed peers.
fn python(root: &Path) -> anyhow::Result<PathBuf> {
    let venv = root.join(".venv-bench");
    // The stamp is written last: a folder without it is incomplete.
    let missing = "the peers are not installed: run crates/bench/peers/prepare, or leave them out: --without peers";
    ensure!(venv.join(".stamp").is_file(), missing);
    Ok(venv.join("bin/python"))
}

fn figures(peer: Peer, line: &[u8]) -> anyhow::Result<PeerFigures> {
    let told: PeerFigures =
        serde_json::from_slice(line).with_context(|| format!("{} printed something else", peer.script()))?;
    ensure!(told.peer == peer.name(), "{} speaks for {}", peer.script(), told.peer);
    ensure!(told.alone.cycles > 0 && told.together.cycles > 0, "{} finished no cycle", peer.script());
    Ok(told)
}

impl Peer {
    pub(crate) const ALL: [Self; 2] = [Self::LangGraph, Self::Ctrlrun];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::LangGraph => "langgraph",
            Self::Ctrlrun => "ctrlrun",
        }
    }

    fn script(self) -> &'static str {
        match self {
            Self::LangGraph => "langgraph_cycles.py",
            Self::Ctrlrun => "ctrlrun_cycles.py",
        }
    }
}

#[cfg(test)]
mod tests;
