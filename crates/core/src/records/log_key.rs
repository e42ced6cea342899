//! Keys that sign the checkpoints of the transparency log.

use countersign_protocol::{clarification::PublicKey, clarification::Signature, ids::RowKey, time::UnixMillis};
use serde::{Deserialize, Serialize};

/// An Ed25519 key of the log, for all projects: their checkpoints differ by their origin. The newest generation signs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogKey {
    pub key: RowKey,
    pub version: i64,
    /// From 1; unique, so that only one of two nodes creates the next key.
    pub generation: i64,
    pub public: PublicKey,
    /// The private part, encrypted at rest. Removed with the replacement of the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<String>,
    pub created_at: UnixMillis,
    /// For every generation but the first: the statement of its predecessor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub succession: Option<KeySuccession>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced_at: Option<UnixMillis>,
}

/// A key's statement about its successor, signed by both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeySuccession {
    pub predecessor: PublicKey,
    /// The signed text.
    pub statement: String,
    pub by_predecessor: Signature,
    pub by_successor: Signature,
}
