//! Evidence leaves: what a stranger may see, and commitments to what only some may.
//!
//! A leaf is canonical JSON. Members that are personal or guessable stand in it as salted commitments; the
//! values and their salts are kept beside the log, where they can be erased without breaking any proof.

use crate::{canonical, canonical::NotCanonical, hash::Digest};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A value behind a commitment, with the salt that hides it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opening {
    pub salt: String,
    pub value: Value,
}

/// A leaf with the openings of its commitments.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    /// Canonical bytes; what is hashed.
    pub bytes: Vec<u8>,
    pub hash: Digest,
    /// Member name → opening. Stored apart, erasable.
    pub openings: Map<String, Value>,
}

/// The commitment to one member: SHA-256 over salt, name and canonical value, each set apart.
pub fn commitment(name: &str, salt: &[u8; 16], value: &Value) -> Result<Digest, NotCanonical> {
    let value = canonical::of_value(value)?;
    Ok(Digest::of_parts(&[b"countersign:commitment:1\0", salt, name.as_bytes(), b"\0", &value]))
}

/// Builds a leaf from its open members and the ones to hide.
pub fn leaf(
    open: Map<String, Value>,
    hidden: Vec<(&'static str, Value)>,
    mut salt: impl FnMut() -> [u8; 16],
) -> Result<Leaf, NotCanonical> {
    let mut commitments = Map::new();
    let mut openings = Map::new();
    for (name, value) in hidden {
        let salt = salt();
        commitments.insert(name.into(), Value::String(commitment(name, &salt, &value)?.hex()));
        let opening = Opening { salt: hex::encode(salt), value };
        openings.insert(name.into(), serde_json::json!(opening));
    }
    let mut members = open;
    members.insert("v".into(), 1.into());
    members.insert("commitments".into(), Value::Object(commitments));
    let bytes = canonical::of_value(&Value::Object(members))?;
    Ok(Leaf { hash: leaf_hash(&bytes), bytes, openings })
}

/// The hash of a leaf's canonical bytes, tagged so that it can never be taken for an inner node.
pub fn leaf_hash(bytes: &[u8]) -> Digest {
    Digest::of_parts(&[&[0], bytes])
}

/// The running hash of a lane: binds every leaf to its place.
pub fn chain(previous: &Digest, seq: i64, leaf: &Digest) -> Digest {
    Digest::of_parts(&[&[2], &previous.0, &seq.to_be_bytes(), &leaf.0])
}
