//! Approved calls that their upstream can undo within their undo window (AAP 14.1).

use super::CancelCall;
use countersign_protocol::{ids::RowKey, time::UnixMillis};
use serde::{Deserialize, Serialize};

/// From its claim on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UndoableCall {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    pub session: RowKey,
    /// The decision that approved it.
    pub decision: RowKey,
    /// `call_…`: names it to its agent and in the audit.
    pub call_id: String,
    pub request: CancelCall,
    pub window_s: i64,
    /// None until it is known that the call was carried out.
    pub closes_at: Option<UnixMillis>,
    /// The row is kept until then.
    pub until: UnixMillis,
    pub state: UndoableState,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum UndoableState {
    /// It is being sent, or its node was killed.
    InFlight,
    /// Anybody entitled may have it undone.
    Open,
    /// Nobody did until the window closed.
    Closed,
    /// It is to be undone: any node sends the request.
    Wanted {
        at: UnixMillis,
    },
    /// The request is being sent, or was lost with its node.
    Attempted {
        at: UnixMillis,
    },
    Undone {
        at: UnixMillis,
    },
    /// The request was refused, or could not be sent.
    Remains {
        at: UnixMillis,
        why: String,
    },
    /// The response was lost.
    Unknown {
        at: UnixMillis,
    },
}

impl UndoableCall {
    /// The end of its window, while it is open.
    pub fn open_until(&self) -> Option<UnixMillis> {
        self.closes_at.filter(|_| self.state == UndoableState::Open)
    }

    /// Whether the request that undoes it is wanted or under way.
    pub fn is_being_undone(&self) -> bool {
        matches!(self.state, UndoableState::Wanted { .. } | UndoableState::Attempted { .. })
    }
}
