//! Evidence leaves as a verifier reads them: open members, commitments, and the openings that fit.

use super::parse::lower_hex;
use crate::{
    crypto::{Crypto, Hash},
    json::{self, Numbers},
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The version of leaves.
const VERSION: u64 = 1;
const COMMITMENT: &[u8] = b"countersign:commitment:1\0";

/// A leaf of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct EvidenceLeaf {
    pub event_type: String,
    pub timestamp: String,
    pub project: String,
    /// The open members, with these three.
    pub open: Map<String, Value>,
    pub commitments: BTreeMap<String, Hash>,
}

impl EvidenceLeaf {
    /// None if the text is no leaf of the version that is known here.
    pub fn parse(text: &str) -> Option<Self> {
        let Value::Object(mut open) = json::value(text, Numbers::Any).ok()? else { return None };
        let Value::Object(commitments) = open.remove("commitments")? else { return None };
        let commitment = |(name, digest): (String, Value)| Some((name, lower_hex(digest.as_str()?)?));
        let commitments: BTreeMap<String, Hash> = commitments.into_iter().map(commitment).collect::<Option<_>>()?;
        let text = |name: &str| Some(open.get(name)?.as_str()?.to_owned());
        let known = open.get("v").and_then(Value::as_u64) == Some(VERSION);
        let distinct = commitments.keys().all(|name| !open.contains_key(name));
        let (event_type, timestamp, project) = (text("event_type")?, text("timestamp")?, text("project")?);
        (known && distinct).then_some(Self { event_type, timestamp, project, open, commitments })
    }
}

/// The commitment to one member.
pub(super) fn commitment(crypto: &impl Crypto, name: &str, salt: &[u8; 16], value: &str) -> Hash {
    crypto.sha256(&[COMMITMENT, salt, name.as_bytes(), b"\0", value.as_bytes()])
}
