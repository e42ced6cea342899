//! Evidence leaves: public members, and commitments to confidential ones.
//!
//! A leaf is canonical JSON. Personal or guessable members are salted commitments; the values and their salts are
//! stored beside the log and can be erased without breaking any proof.

use crate::{canonical, canonical::NotCanonical, hash::Digest};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A value behind a commitment, with the salt that hides it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opening {
    pub salt: String,
    pub value: Value,
}

/// A leaf with the openings of its commitments.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    /// The canonical bytes, which are hashed.
    pub bytes: Vec<u8>,
    pub hash: Digest,
    /// Member name → [`Opening`], as JSON. Stored separately, erasable. None if nothing is hidden.
    pub openings: Option<String>,
}

/// The commitment to one member: SHA-256 over salt, name and canonical value, each separated.
pub fn commitment(name: &str, salt: &[u8; 16], value: &Value) -> Result<Digest, NotCanonical> {
    Ok(commit(name, salt, &canonical::of_value(value)?))
}

fn commit(name: &str, salt: &[u8; 16], value: &[u8]) -> Digest {
    Digest::of_parts(&[b"countersign:commitment:1\0", salt, name.as_bytes(), b"\0", value])
}

/// Builds a leaf from its open and its hidden members. Of two members with one name the later counts.
///
/// Every call produces a leaf, so its canonical bytes are written directly instead of through a map: names are ours, in
/// ASCII, and sorted.
pub fn leaf(
    mut open: Vec<(&'static str, Value)>,
    mut hidden: Vec<(&'static str, Value)>,
    mut salt: impl FnMut() -> [u8; 16],
) -> Result<Leaf, NotCanonical> {
    hidden.sort_by_key(|(name, _)| *name);
    let (mut commitments, mut openings) = (LeafWriter::default(), LeafWriter::default());
    for (name, value) in last_of_each(&hidden) {
        let salt = salt();
        let value = canonical::of_value(value)?;
        let (salt_hex, digest) = (hex::encode(salt), commit(name, &salt, &value).hex());
        commitments.add(name, &[b"\"", digest.as_bytes(), b"\""]);
        openings.add(name, &[b"{\"salt\":\"", salt_hex.as_bytes(), b"\",\"value\":", &value, b"}"]);
    }
    let commitments = commitments.close();
    open.extend([("v", Value::from(1)), (COMMITMENTS, Value::Null)]);
    open.sort_by_key(|(name, _)| *name);
    let mut members = LeafWriter::default();
    for (name, value) in last_of_each(&open) {
        match *name {
            COMMITMENTS => members.add(name, &[&commitments]),
            _ => members.add(name, &[&canonical::of_value(value)?]),
        }
    }
    let bytes = members.close();
    let openings = (!hidden.is_empty()).then(|| text(openings.close()));
    Ok(Leaf { hash: leaf_hash(&bytes), bytes, openings })
}

const COMMITMENTS: &str = "commitments";

/// What was written is JSON, so it is UTF-8.
fn text(json: Vec<u8>) -> String {
    String::from_utf8(json).unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned())
}

fn last_of_each<'a>(sorted: &'a [(&'static str, Value)]) -> impl Iterator<Item = (&'a &'static str, &'a Value)> {
    let names_next = sorted.iter().skip(1).map(|(name, _)| Some(*name)).chain([None]);
    sorted
        .iter()
        .zip(names_next)
        .filter(|((name, _), next)| Some(*name) != *next)
        .map(|((name, value), _)| (name, value))
}

/// The serialised members of an object.
#[derive(Default)]
struct LeafWriter(Vec<u8>);

impl LeafWriter {
    fn add(&mut self, name: &str, value: &[&[u8]]) {
        self.0.extend_from_slice(if self.0.is_empty() { b"{\"" } else { b",\"" });
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b"\":");
        value.iter().for_each(|part| self.0.extend_from_slice(part));
    }

    fn close(mut self) -> Vec<u8> {
        if self.0.is_empty() {
            self.0.push(b'{');
        }
        self.0.push(b'}');
        self.0
    }
}

/// The hash of a leaf's canonical bytes, tagged so that it can never pass for an inner node.
pub fn leaf_hash(bytes: &[u8]) -> Digest {
    Digest::of_parts(&[&[0], bytes])
}

/// The running hash of a lane: binds every leaf to its position.
pub fn chain(previous: &Digest, seq: i64, leaf: &Digest) -> Digest {
    Digest::of_parts(&[&[2], &previous.0, &seq.to_be_bytes(), &leaf.0])
}
