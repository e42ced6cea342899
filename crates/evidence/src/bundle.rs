//! Evidence bundles: one file with everything that a stranger needs to check what happened (docs/EVIDENCE.md).
//!
//! A bundle has leaves with their inclusion proofs in one checkpoint, and openings of their commitments. The story is told
//! from leaves and openings alone; a document beside them counts only if its digest stands in a leaf.

mod fault;
mod leaf;
mod parse;
mod story;
mod verify;

pub use fault::{Code, Fault};
pub use leaf::EvidenceLeaf;
pub use story::{Sentence, TEMPLATES};
pub use verify::{Report, verify};

use crate::crypto::Hash;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

pub const FORMAT: &str = "countersign-evidence-bundle";
pub const VERSION: u64 = 1;
pub const MEDIA_TYPE: &str = "application/vnd.countersign.evidence-bundle+json; version=1";
/// The largest bundle that is read.
pub const MAX_BYTES: usize = 16 << 20;
pub const MAX_LEAVES: usize = 10_000;
pub const MAX_DOCUMENTS: usize = 1_000;
pub const MAX_WITNESSES: usize = 100;

/// A bundle, well-formed and not verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    pub project: String,
    pub subject: Subject,
    /// The verifier key of the log.
    pub key: String,
    /// The verifier keys of the witnesses that cosigned.
    pub witnesses: Vec<String>,
    /// The signed note, with its cosignatures.
    pub checkpoint: String,
    pub leaves: Vec<ProvenLeaf>,
    pub documents: Vec<Document>,
}

/// What the bundle is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    pub kind: SubjectKind,
    pub id: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubjectKind {
    Decision,
    Session,
    Delegation,
    Execution,
}

/// A leaf with the proof of its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvenLeaf {
    pub index: u64,
    /// The leaf's exact bytes.
    pub leaf: String,
    /// From the leaf's sibling upwards.
    pub path: Vec<Hash>,
    /// One for each of the leaf's commitments.
    pub openings: BTreeMap<String, Disclosed>,
}

/// What the bundle says about a committed member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disclosed {
    /// The value as canonical JSON text, with the salt of its commitment.
    Opened { salt: [u8; 16], value: String },
    /// The log itself has it no more.
    Erased,
    /// The exporter was not entitled to it, or left it out.
    Withheld,
}

/// A text with a digest that stands in a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The index of that leaf in the log, and its member.
    pub leaf: u64,
    pub member: String,
    pub text: String,
}

impl SubjectKind {
    pub const ALL: [Self; 4] = [Self::Decision, Self::Session, Self::Delegation, Self::Execution];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Decision => "decision",
            Self::Session => "session",
            Self::Delegation => "delegation",
            Self::Execution => "execution",
        }
    }

    /// The member of leaves with the id.
    pub fn member(self) -> &'static str {
        match self {
            Self::Decision => "decision_id",
            Self::Session => "session_id",
            Self::Delegation => "delegation_id",
            Self::Execution => "execution_id",
        }
    }
}

impl Bundle {
    /// Reads a file.
    pub fn parse(bytes: &[u8]) -> Result<Self, Fault> {
        parse::bundle(bytes)
    }

    /// The file's content.
    pub fn to_json(&self) -> Value {
        json!({
            "format": FORMAT,
            "version": VERSION,
            "project": self.project,
            "subject": { "kind": self.subject.kind.as_str(), "id": self.subject.id },
            "key": self.key,
            "witnesses": self.witnesses,
            "checkpoint": self.checkpoint,
            "leaves": self.leaves.iter().map(ProvenLeaf::to_json).collect::<Vec<_>>(),
            "documents": self.documents.iter().map(Document::to_json).collect::<Vec<_>>(),
        })
    }
}

impl ProvenLeaf {
    fn to_json(&self) -> Value {
        let openings: Map<String, Value> =
            self.openings.iter().map(|(name, disclosed)| (name.clone(), disclosed.to_json())).collect();
        let path: Vec<String> = self.path.iter().map(|hash| STANDARD.encode(hash)).collect();
        json!({ "index": self.index, "leaf": self.leaf, "path": path, "openings": openings })
    }
}

impl Disclosed {
    fn to_json(&self) -> Value {
        match self {
            Self::Opened { salt, value } => json!({ "salt": hex::encode(salt), "value": value }),
            Self::Erased => json!("erased"),
            Self::Withheld => json!("withheld"),
        }
    }
}

impl Document {
    fn to_json(&self) -> Value {
        json!({ "leaf": self.leaf, "member": self.member, "text": self.text })
    }
}

#[cfg(test)]
mod second_verifier;
#[cfg(test)]
mod tests;
