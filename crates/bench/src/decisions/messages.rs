//! Messages between the generator and the server of a benchmark.

use crate::StoreKind;
use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
};

/// The state prepared before the measurement.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Scene {
    /// Idle subscriptions of other people.
    pub(crate) others: usize,
    /// Subscriptions of the one person asked.
    pub(crate) listeners: usize,
    /// Questions that are pending already.
    pub(crate) pending: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct NodeReady {
    pub(crate) address: String,
    /// API keys of agents, one for each concurrent cycle.
    pub(crate) agents: Vec<String>,
    /// The token of the answering subscriber.
    pub(crate) subscriber: String,
    pub(crate) figures: Figures,
}

/// Figures that the server measured while it prepared the scenario.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Figures {
    /// Resident memory taken by the scenario.
    pub(crate) grown_kib: f64,
    pub(crate) delivery_us: f64,
}

/// A server in a process of its own, until dropped.
pub(crate) struct Server {
    process: Child,
    pub(crate) told: NodeReady,
}

impl Server {
    pub(crate) fn start(store: StoreKind, scene: Scene) -> anyhow::Result<Self> {
        let store = format!("{store:?}").to_lowercase();
        let scene = serde_json::to_string(&scene)?;
        let mut process = Command::new(std::env::current_exe()?)
            .args(["decisions", "--store", &store, "--child", "--scene", &scene])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().context("no output")?).read_line(&mut line)?;
        let told = serde_json::from_str(&line).context("the server of the benchmark did not start")?;
        Ok(Self { process, told })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ended = self.process.wait();
    }
}
