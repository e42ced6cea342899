//! Writes that their upstream can undo, and the rollback of a cancelled session (AAP 17.7).

use countersign_protocol::{
    aap::revoke::{RollbackCounts, RollbackStatus},
    hash::Digest,
    ids::RowKey,
    time::UnixMillis,
};
use serde::{Deserialize, Serialize};

/// A write on a route with a cancel endpoint, from its intent on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReversibleWrite {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    pub session: RowKey,
    /// `call_…`: names it in the audit and to its agent.
    pub call_id: String,
    pub action: String,
    pub cancel: CancelCall,
    pub started_at: UnixMillis,
    /// It is not undone any more from then on.
    pub until: UnixMillis,
    pub state: ReversibleState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReversibleState {
    /// It is being sent, or its node was killed.
    InFlight,
    Committed,
    Unknown,
}

/// The request that undoes a write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancelCall {
    pub route: String,
    /// Of the route's endpoint and its upstream when the write began; under others it undoes nothing.
    pub rules: Digest,
    /// Its path and query, sealed under the project's key: they may hold personal data. None while the response that
    /// they need is missing, or if a member is.
    pub sealed: Option<String>,
}

/// The rollback of a cancelled session: what is undone, and what became of each of its steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rollback {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    pub session: RowKey,
    /// The beginning of the session's last run: from then on its writes are undone.
    pub since: UnixMillis,
    /// The end of the session that it belongs to.
    pub closed_at: UnixMillis,
    /// The newest, oldest first; before them those of the current round, if it is a later one.
    pub steps: Vec<SessionStep>,
    /// Whether the session had calls that were not read.
    pub more: bool,
    /// Number of steps of the current round, if it is a later one. They are counted when it ends.
    #[serde(default)]
    pub round: usize,
    /// Older writes that wait for a later round; until then their own rows are kept.
    #[serde(default)]
    pub left: usize,
    /// The other older steps.
    #[serde(default)]
    pub unlisted: RollbackCounts,
    /// Whether one of those is of a route with a cancel endpoint.
    #[serde(default)]
    pub unlisted_reversible: bool,
    pub phase: RollbackPhase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum RollbackPhase {
    /// The steps are not known yet. Any node collects them from `due` on.
    Collecting {
        due: UnixMillis,
    },
    /// One request at a time: the next is due, or the lease of the current one is over.
    Undoing {
        due: UnixMillis,
    },
    Finished {
        at: UnixMillis,
        status: RollbackStatus,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionStep {
    pub call_id: Option<String>,
    pub decision_id: Option<String>,
    pub action: Option<String>,
    pub state: StepState,
    /// Until it was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel: Option<CancelCall>,
    /// Whether its route has a cancel endpoint.
    pub reversible: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum StepState {
    /// Asked for or approved, and never run.
    NotDone,
    /// Took effect, and remains.
    Done {
        why: Option<String>,
    },
    /// Took effect, and is going to be undone.
    Waiting,
    /// The request to undo it is being sent, or was lost with its node.
    Attempted {
        at: UnixMillis,
    },
    Undone {
        at: UnixMillis,
    },
    Unknown {
        why: String,
    },
}

impl Rollback {
    /// When a node continues it.
    pub fn due(&self) -> Option<UnixMillis> {
        match self.phase {
            RollbackPhase::Collecting { due } | RollbackPhase::Undoing { due } => Some(due),
            RollbackPhase::Finished { .. } => None,
        }
    }
}
