//! What the processes of a run tell each other, as JSON.

use crate::StoreKind;
use serde::{Deserialize, Serialize};
use std::{net::SocketAddr, path::PathBuf};

/// What is asked for, whoever answers.
pub(super) const PATH: &str = "/accounts";

/// An agent's key, in a file that every contender reads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Agent {
    /// Base64.
    pub(super) pkcs8: String,
    /// The thumbprint of its public half.
    pub(super) jkt: String,
}

/// What is to stand in a database.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Preparing {
    pub(super) store: StoreKind,
    /// Holds the agents' keys; gets the database.
    pub(super) folder: PathBuf,
    /// The service behind the proxy.
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

/// What an agent's calls repeat in their headers.
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

/// What a process of ours is to serve.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Serving {
    pub(super) point: Point,
    pub(super) place: Database,
    pub(super) nodes: usize,
    /// For how long it counts as having been up.
    pub(super) up_for_s: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Point {
    Layer,
    Proxy,
}

/// Where a contender listens, and what it wants to be sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Told {
    pub(super) addresses: Vec<SocketAddr>,
    /// What proofs are for, without the path.
    pub(super) origin: String,
    pub(super) path: String,
    /// Where it gives out tokens itself.
    #[serde(default)]
    pub(super) tokens: Vec<String>,
    /// Until it was ready.
    #[serde(default)]
    pub(super) start_ms: f64,
}
