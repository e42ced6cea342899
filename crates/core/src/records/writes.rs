//! Writes that needed no approval, from their intent until their outcome is known.

use countersign_protocol::{hash::Digest, ids::RowKey, time::UnixMillis};
use serde::{Deserialize, Serialize};

/// A write whose outcome is not recorded. Its repeats are refused until it is, or until `until`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnsettledWrite {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    /// `call_…`: names it to its caller, to administrators and in the evidence.
    pub call_id: String,
    pub delegation: RowKey,
    /// None if it began before sessions were noted.
    #[serde(default)]
    pub session: Option<RowKey>,
    pub delegation_id: String,
    pub operator: String,
    pub route: String,
    pub action: String,
    pub method: String,
    /// Path and query, raw. An administrator must see what to look for; the row is gone after a day.
    pub target: String,
    /// None where the service itself makes repeats harmless: they are let through, and the row only shows that the write is
    /// under way.
    pub fingerprint: Option<WriteFingerprint>,
    /// Unique among open rows: of two equal writes that begin at the same moment, on any two nodes, one is let through.
    pub same: Option<Digest>,
    pub started_at: UnixMillis,
    pub until: UnixMillis,
    pub state: WriteState,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum WriteState {
    /// Let through; its node is sending it, or was killed.
    InFlight,
    /// The upstream's answer did not say whether it ran.
    Unknown { since: UnixMillis },
    /// A person found out. Kept so that a later, different fact is noticed.
    Settled { at: UnixMillis, ran: bool, reason: String },
}

/// How a repeat of a write is recognised. A member that is not known agrees with everything (fails closed).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteFingerprint {
    /// Of method, target, content type and encoding, and the headers that the route lists.
    pub head: Digest,
    /// Of the first bytes of the body.
    pub beginning: Option<Digest>,
    pub length: Option<u64>,
    /// Of the whole body, once it has passed.
    pub body: Option<Digest>,
    /// Of the `Idempotency-Key` header.
    pub idempotency_key: Option<Digest>,
    /// Of the proof of possession that it spent.
    pub proof: Option<Digest>,
}

impl UnsettledWrite {
    pub fn is_open(&self) -> bool {
        !matches!(self.state, WriteState::Settled { .. })
    }

    pub fn refuses_repeats(&self) -> bool {
        self.is_open() && self.fingerprint.is_some()
    }
}
