//! Evidence leaves: public members, and commitments to confidential ones.
//!
//! A leaf is canonical JSON. Personal or guessable members are salted commitments; the values and their salts are
//! stored beside the log and can be erased without breaking any proof.

use crate::{
    canonical,
    canonical::{CanonicalValue, NotCanonical},
    hash::Digest,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::{collections::BTreeMap, ops::Range};

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

/// The members of a leaf, written as canonical JSON one by one. Of two members with one name the later counts.
///
/// Every call produces a leaf, so no value is made of a member, and the leaf is put together from their texts: names are
/// ours, in ASCII, and sorted.
#[derive(Default)]
pub struct LeafMembers {
    text: Vec<u8>,
    open: Vec<LeafMember>,
    hidden: Vec<LeafMember>,
    failed: Option<NotCanonical>,
}

/// A member's place in the text.
struct LeafMember {
    name: &'static str,
    value: Range<usize>,
}

/// Most entries have fewer members, and less text.
const USUAL_MEMBERS: usize = 18;
const USUAL_TEXT: usize = 512;
/// More than what surrounds a member in a leaf; a commitment has its digest beside its name.
const AROUND: usize = 40;
const COMMITMENT: usize = 112;

impl LeafMembers {
    pub fn new() -> Self {
        Self {
            text: Vec::with_capacity(USUAL_TEXT),
            open: Vec::with_capacity(USUAL_MEMBERS),
            hidden: Vec::with_capacity(4),
            failed: None,
        }
    }

    pub fn open(&mut self, name: &'static str, value: impl CanonicalValue) {
        let value = self.write(value);
        self.open.push(LeafMember { name, value });
    }

    /// Behind a commitment.
    pub fn hidden(&mut self, name: &'static str, value: impl CanonicalValue) {
        let value = self.write(value);
        self.hidden.push(LeafMember { name, value });
    }

    fn write(&mut self, value: impl CanonicalValue) -> Range<usize> {
        let begun = self.text.len();
        if let Err(why) = value.write_to(&mut self.text) {
            self.failed.get_or_insert(why);
        }
        begun..self.text.len()
    }

    /// Fails if a value has no canonical form.
    pub fn seal(mut self, mut salt: impl FnMut() -> [u8; 16]) -> Result<Leaf, NotCanonical> {
        if let Some(why) = self.failed {
            return Err(why);
        }
        self.hidden.sort_by_key(|member| member.name);
        let count = self.hidden.len();
        let mut commitments = ObjectWriter::with_capacity(count * COMMITMENT);
        let mut openings = ObjectWriter::with_capacity(self.text.len() + count * COMMITMENT);
        for LeafMember { name, value } in last_of_each(&self.hidden) {
            let (salt, value) = (salt(), self.text.get(value.clone()).unwrap_or_default());
            let (mut salt_hex, mut digest_hex) = ([0; 32], [0; 64]);
            let _fits = hex::encode_to_slice(salt, &mut salt_hex);
            let _fits = hex::encode_to_slice(commit(name, &salt, value).0, &mut digest_hex);
            commitments.add(name, &[b"\"", &digest_hex, b"\""]);
            openings.add(name, &[b"{\"salt\":\"", &salt_hex, b"\",\"value\":", value, b"}"]);
        }
        let commitments = commitments.close();
        self.open("v", 1);
        self.open(COMMITMENTS, ());
        self.open.sort_by_key(|member| member.name);
        let room = self.text.len() + commitments.len() + self.open.len() * AROUND;
        let mut members = ObjectWriter::with_capacity(room);
        for LeafMember { name, value } in last_of_each(&self.open) {
            match *name {
                COMMITMENTS => members.add(name, &[&commitments]),
                _ => members.add(name, &[self.text.get(value.clone()).unwrap_or_default()]),
            }
        }
        let bytes = members.close();
        let openings = (count > 0).then(|| text(openings.close()));
        Ok(Leaf { hash: leaf_hash(&bytes), bytes, openings })
    }
}

/// How a stored entry differs from what was written. Nothing of it may be told as a fact.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    #[error("the leaf does not fit its hash")]
    Leaf,
    /// A column beside the leaf, by which entries are found and ordered.
    #[error("the column {0} does not fit the leaf")]
    Column(&'static str),
    #[error("the openings cannot be read")]
    Openings,
    #[error("the opening of {0} does not fit its commitment")]
    Opening(String),
}

/// The open members of a leaf that fits its hash.
pub fn open_members(leaf: &[u8], hash: &Digest) -> Result<Map<String, Value>, Misfit> {
    if leaf_hash(leaf) != *hash {
        return Err(Misfit::Leaf);
    }
    serde_json::from_slice(leaf).map_err(|_| Misfit::Leaf)
}

/// The values behind the commitments of a leaf. Each is compared with its commitment; erased ones are absent.
pub fn openings_of(members: &Map<String, Value>, openings: &str) -> Result<Map<String, Value>, Misfit> {
    let openings: BTreeMap<String, Opening> = serde_json::from_str(openings).map_err(|_| Misfit::Openings)?;
    let commitments = members.get(COMMITMENTS).and_then(Value::as_object);
    let fits = |name: &str, opening: &Opening| {
        let salt: [u8; 16] = hex::decode(&opening.salt).ok()?.try_into().ok()?;
        let committed = commitments?.get(name)?.as_str()?;
        (commitment(name, &salt, &opening.value).ok()?.hex() == committed).then_some(())
    };
    let value = |(name, opening): (String, Opening)| match fits(&name, &opening) {
        Some(()) => Ok((name, opening.value)),
        None => Err(Misfit::Opening(name)),
    };
    openings.into_iter().map(value).collect()
}

/// Whether a leaf hides members, so that it had openings when it was written.
pub fn has_commitments(members: &Map<String, Value>) -> bool {
    members.get(COMMITMENTS).and_then(Value::as_object).is_some_and(|hidden| !hidden.is_empty())
}

const COMMITMENTS: &str = "commitments";

/// What was written is JSON, so it is UTF-8.
fn text(json: Vec<u8>) -> String {
    String::from_utf8(json).unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned())
}

fn last_of_each(sorted: &[LeafMember]) -> impl Iterator<Item = &LeafMember> {
    let names_next = sorted.iter().skip(1).map(|member| Some(member.name)).chain([None]);
    sorted.iter().zip(names_next).filter(|(member, next)| Some(member.name) != *next).map(|(member, _)| member)
}

/// The serialised members of an object.
struct ObjectWriter(Vec<u8>);

impl ObjectWriter {
    fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes + 2))
    }

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

#[cfg(test)]
mod tests;
