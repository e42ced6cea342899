//! Reports of lifecycle events.

use countersign_protocol::{hash::Digest, ids::RowKey, time::UnixMillis};
use serde::{Deserialize, Serialize};

/// A lifecycle event, reported under an id of its sender. Reported again it changes nothing, and another event under
/// the same id is refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LifecycleReport {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    /// Digest of the id.
    pub same: Digest,
    /// Digest of the event and those it concerns.
    pub content: Digest,
    /// None until everything that it ends has ended.
    pub applied_at: Option<UnixMillis>,
    /// When the row may be deleted.
    pub expires_at: UnixMillis,
}
