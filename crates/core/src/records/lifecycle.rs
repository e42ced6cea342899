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
    /// What it has ended so far. Empty once it is applied.
    #[serde(default)]
    pub ended: EndedByEvent,
    /// None until everything that it ends has ended.
    pub applied_at: Option<UnixMillis>,
    /// When the row may be deleted.
    pub expires_at: UnixMillis,
}

/// The rows that an event ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EndedByEvent {
    pub delegations: Vec<RowKey>,
    pub api_keys: Vec<RowKey>,
}

impl LifecycleReport {
    /// After a step that ended these, too.
    #[must_use]
    pub fn with_ended(&self, more: EndedByEvent) -> Self {
        let mut report = Self { version: self.version + 1, ..self.clone() };
        report.ended.delegations.extend(more.delegations);
        report.ended.api_keys.extend(more.api_keys);
        report
    }
}
