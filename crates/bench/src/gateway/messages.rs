//! Messages between the processes of a run, as JSON.

use crate::StoreKind;
use serde::{Deserialize, Serialize};
use std::{net::SocketAddr, path::PathBuf};

/// The requested path, the same for every contender.
pub(super) const PATH: &str = "/accounts";

/// An agent's key, in a file that every contender reads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct AgentKeyFile {
    /// Base64.
    pub(super) pkcs8: String,
    /// The thumbprint of its public half.
    pub(super) jkt: String,
}

/// The content to prepare in a database.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Preparing {
    pub(super) store: StoreKind,
    /// The folder with the agents' keys, and later the database.
    pub(super) folder: PathBuf,
    /// The upstream of the proxy.
    pub(super) upstream: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Prepared {
    pub(super) place: Database,
    /// One for each agent.
    pub(super) tokens: Vec<String>,
    /// Of each agent, in the same order.
    pub(super) sessions: Vec<AgentSession>,
    /// The database server, if it is a process.
    pub(super) processes: Vec<u32>,
}

/// Values that an agent's calls repeat in their headers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct AgentSession {
    pub(super) session_id: String,
    pub(super) delegation_id: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Database {
    File(PathBuf),
    Postgres(String),
}

/// The task of a serving Countersign process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ServingConfig {
    pub(super) point: Point,
    pub(super) place: Database,
    pub(super) nodes: usize,
    /// The apparent uptime.
    pub(super) up_for_s: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Point {
    Layer,
    Proxy,
}

/// The address of a contender, and the values that it expects in requests.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ContenderReady {
    pub(super) addresses: Vec<SocketAddr>,
    /// The origin in proofs, without the path.
    pub(super) origin: String,
    pub(super) path: String,
    /// Set if it issues tokens itself.
    #[serde(default)]
    pub(super) tokens: Vec<String>,
    /// The time until it was ready.
    #[serde(default)]
    pub(super) start_ms: f64,
}
