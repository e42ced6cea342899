//! The watch on a session's heartbeats (AAP 12.2).

use countersign_protocol::{aap::heartbeat::TaskStatus, ids::RowKey, time::UnixMillis};
use serde::{Deserialize, Serialize};

/// One row a session with a receipt that asks for heartbeats. Calls never touch it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heartbeat {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    pub session: RowKey,
    pub interval_s: i64,
    pub last_at: Option<UnixMillis>,
    pub status: Option<TaskStatus>,
    pub progress: Option<i64>,
    pub state: HeartbeatState,
    /// End of the receipts that ask for it.
    pub until: UnixMillis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum HeartbeatState {
    /// A heartbeat is missed from `due` on.
    Watched { due: UnixMillis },
    /// Its agent may not send any before `due`: the delegation is suspended, or the consent not open yet.
    Paused { due: UnixMillis },
    /// Until the next heartbeat.
    Missed { at: UnixMillis },
    /// The session, its delegation or its receipt has ended.
    Over,
}

impl Heartbeat {
    pub fn due(&self) -> Option<UnixMillis> {
        match self.state {
            HeartbeatState::Watched { due } | HeartbeatState::Paused { due } => Some(due),
            HeartbeatState::Missed { .. } | HeartbeatState::Over => None,
        }
    }

    pub fn is_over(&self) -> bool {
        self.state == HeartbeatState::Over
    }
}
