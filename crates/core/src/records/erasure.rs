//! The erasure of a person, and what holds it up.

use countersign_protocol::{ids::RowKey, time::UnixMillis};
use serde::{Deserialize, Serialize};

/// What was decided about erasing a person. There is at most one row a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Erasure {
    pub key: RowKey,
    pub version: i64,
    pub id: String,
    pub person: RowKey,
    /// The sign-in name; empty once the person is erased.
    pub name: String,
    /// Nothing is erased under a legal hold.
    pub hold: Option<LegalHold>,
    pub state: ErasureState,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LegalHold {
    pub since: UnixMillis,
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum ErasureState {
    /// Nobody has asked for it; there is a legal hold, or was one.
    NotRequested,
    Scheduled {
        requested_at: UnixMillis,
        /// When the records need not be kept any longer.
        due: UnixMillis,
        /// Why it does not wait for that.
        early: Option<String>,
    },
    Done {
        at: UnixMillis,
        openings: u64,
    },
}

impl Erasure {
    /// When it is carried out; none under a legal hold.
    pub fn due(&self) -> Option<UnixMillis> {
        match self.state {
            ErasureState::Scheduled { due, .. } if self.hold.is_none() => Some(due),
            _ => None,
        }
    }
}
