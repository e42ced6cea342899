//! Witnesses (C2SP tlog-witness): a log's request for a cosignature, and the witness's decision about it.
//!
//! The decision is a pure function of the request and of what the witness knows. Its shell stores the new state durably, by
//! compare-and-set, before it answers.

use crate::{
    checkpoint::Checkpoint,
    crypto::{Crypto, Hash},
    merkle::{self, Unproven},
    note::{BadNote, Note, Signature, VerifierKey, signatures},
    tile::decimal,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};

/// The most hashes of a consistency proof.
pub const MAX_PROOF: usize = 63;
/// The content type of the answer to a log that names another old size than the witness knows.
pub const SIZE_TYPE: &str = "text/x.tlog.size";

/// The body of `POST PREFIX/add-checkpoint`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddCheckpoint {
    /// The size that the log believes the witness to have seen.
    pub old: u64,
    pub proof: Vec<Hash>,
    pub note: Note,
}

/// A log as a witness knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownLog {
    pub keys: Vec<VerifierKey>,
    /// The largest tree that was cosigned: zero, or with its root.
    pub size: u64,
    pub root: Hash,
}

/// Why a witness does not cosign.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("the request is malformed: {0}")]
    Malformed(&'static str),
    #[error("the checkpoint is malformed: {0}")]
    BadNote(#[from] BadNote),
    #[error("this log is not known here")]
    UnknownLog,
    #[error("no valid signature by a known key of the log")]
    Unsigned,
    #[error("the old size is above the new one")]
    Shrinks,
    #[error("the log's largest tree known here has {0} entries")]
    OtherSize(u64),
    #[error("the checkpoint does not continue the tree known here: {0}")]
    Inconsistent(#[from] Unproven),
}

impl Refused {
    /// The HTTP status.
    pub fn status(&self) -> u16 {
        match self {
            Self::Malformed(_) | Self::BadNote(_) | Self::Shrinks => 400,
            Self::UnknownLog => 404,
            Self::Unsigned => 403,
            Self::OtherSize(_) => 409,
            Self::Inconsistent(_) => 422,
        }
    }
}

impl AddCheckpoint {
    pub fn parse(body: &[u8]) -> Result<Self, Refused> {
        let text = std::str::from_utf8(body).map_err(|_| Refused::BadNote(BadNote::NotText))?;
        let (head, note) = text.split_once("\n\n").ok_or(Refused::Malformed("no empty line before the checkpoint"))?;
        let mut lines = head.split('\n');
        let old = lines.next().and_then(|line| decimal(line.strip_prefix("old ")?));
        let old = old.ok_or(Refused::Malformed("the first line is not the old size"))?;
        let proof = lines.map(hash).collect::<Option<Vec<_>>>().ok_or(Refused::Malformed("a line is not a hash"))?;
        if proof.len() > MAX_PROOF {
            return Err(Refused::Malformed("the consistency proof is too long"));
        }
        Ok(Self { old, proof, note: Note::parse(note.as_bytes())? })
    }

    /// The checkpoint that is to be cosigned. `known` yields the log of an origin.
    pub fn decide(
        &self,
        crypto: &impl Crypto,
        known: impl FnOnce(&str) -> Option<KnownLog>,
    ) -> Result<Checkpoint, Refused> {
        let checkpoint = Checkpoint::parse(&self.note.text).map_err(|_| Refused::Malformed("it is no checkpoint"))?;
        let log = known(&checkpoint.origin).ok_or(Refused::UnknownLog)?;
        self.note.verify(crypto, &log.keys).map_err(|_| Refused::Unsigned)?;
        if self.old > checkpoint.size {
            return Err(Refused::Shrinks);
        }
        if self.old != log.size {
            return Err(Refused::OtherSize(log.size));
        }
        merkle::consistency(crypto, (log.size, &log.root), (checkpoint.size, &checkpoint.root), &self.proof)?;
        Ok(checkpoint)
    }
}

impl std::fmt::Display for AddCheckpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "old {}", self.old)?;
        self.proof.iter().try_for_each(|hash| writeln!(f, "{}", STANDARD.encode(hash)))?;
        write!(f, "\n{}", self.note)
    }
}

/// A line with a hash in base64.
pub(crate) fn hash(line: &str) -> Option<Hash> {
    STANDARD.decode(line).ok()?.try_into().ok()
}

/// The cosignatures in a witness's answer.
pub fn answer(body: &[u8]) -> Result<Vec<Signature>, BadNote> {
    let text = std::str::from_utf8(body).map_err(|_| BadNote::NotText)?;
    signatures(text.strip_suffix('\n').ok_or(BadNote::Unsigned)?)
}

#[cfg(test)]
mod tests;
