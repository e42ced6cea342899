//! Messages between the generator and the server of a benchmark.

use crate::{StoreKind, child::ServerProcess};
use serde::{Deserialize, Serialize};

/// The state prepared before the measurement.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Scenario {
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
    _process: ServerProcess,
    pub(crate) ready: NodeReady,
}

impl Server {
    pub(crate) fn start(store: StoreKind, scenario: Scenario) -> anyhow::Result<Self> {
        let store = format!("{store:?}").to_lowercase();
        let scenario = serde_json::to_string(&scenario)?;
        let arguments = ["decisions", "--store", &store, "--child", "--scenario", &scenario];
        let (process, ready) = ServerProcess::start(&arguments)?;
        Ok(Self { _process: process, ready })
    }
}
