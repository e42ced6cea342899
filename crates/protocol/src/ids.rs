//! Names on the wire. Rows are keyed by integers; these are for people and peers.

use serde::{Deserialize, Serialize};

/// The integer key of a row. Time-ordered and unique over all nodes; never shown to a peer.
pub type RowKey = i64;

/// A project's name: in `/projects/{projectId}/…`, in `?projectId=` and before the base domain.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct ProjectId(String);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a project id is 1 to 40 lower-case letters, digits and hyphens, beginning and ending with a letter or digit")]
pub struct NotAProjectId;

impl ProjectId {
    pub fn parse(text: &str) -> Result<Self, NotAProjectId> {
        let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        let sound =
            (1..=40).contains(&text.len()) && text.bytes().all(inner) && !text.starts_with('-') && !text.ends_with('-');
        if sound { Ok(Self(text.to_owned())) } else { Err(NotAProjectId) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for ProjectId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for ProjectId {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(from)?).map_err(serde::de::Error::custom)
    }
}

/// `prefix_` and 32 hex digits from 16 random bytes.
pub fn prefixed(prefix: &str, random: [u8; 16]) -> String {
    format!("{prefix}_{}", hex::encode(random))
}

/// `^del_[a-z0-9]{6,32}$` (AAP 19.4).
pub fn is_delegation_id(text: &str) -> bool {
    text.strip_prefix("del_").is_some_and(|rest| {
        (6..=32).contains(&rest.len()) && rest.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    })
}
