//! Proofs that stand alone (C2SP tlog-proof, `.tlog-proof`): an inclusion path with its checkpoint.

use crate::{
    checkpoint::Checkpoint,
    crypto::{Crypto, Hash},
    merkle::{self, Unproven},
    note::{Note, Untrusted, VerifierKey},
    tile::decimal,
    witness,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};

const HEADER: &str = "c2sp.org/tlog-proof@v1";
/// A tree of 2^63 leaves has no longer path.
const MAX_PATH: usize = 63;

/// A leaf's place in a log, and the proof of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlogProof {
    /// Data of the application. It is not signed.
    pub extra: Option<Vec<u8>>,
    pub index: u64,
    pub path: Vec<Hash>,
    pub checkpoint: Note,
}

/// Why a proof is not believed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadProof {
    #[error("it is no proof in the format {HEADER}: {0}")]
    Form(&'static str),
    #[error("the checkpoint is not trusted: {0}")]
    Checkpoint(#[from] Untrusted),
    #[error("the entry is not in the log: {0}")]
    Unproven(#[from] Unproven),
}

impl TlogProof {
    pub fn parse(bytes: &[u8]) -> Result<Self, BadProof> {
        let text = std::str::from_utf8(bytes).map_err(|_| BadProof::Form("not UTF-8"))?;
        let (head, note) = text.split_once("\n\n").ok_or(BadProof::Form("no empty line before the checkpoint"))?;
        let mut lines = head.split('\n').peekable();
        if lines.next() != Some(HEADER) {
            return Err(BadProof::Form("another first line"));
        }
        let extra = match lines.next_if(|line| line.starts_with("extra ")).and_then(|line| line.strip_prefix("extra "))
        {
            Some(extra) => Some(STANDARD.decode(extra).map_err(|_| BadProof::Form("extra data not in base64"))?),
            None => None,
        };
        let index = lines.next().and_then(|line| decimal(line.strip_prefix("index ")?));
        let path =
            lines.map(witness::hash).collect::<Option<Vec<_>>>().ok_or(BadProof::Form("a line is not a hash"))?;
        if path.len() > MAX_PATH {
            return Err(BadProof::Form("the path is too long"));
        }
        let checkpoint =
            Note::parse(note.as_bytes()).map_err(|_| BadProof::Form("the checkpoint is no signed note"))?;
        Ok(Self { extra, index: index.ok_or(BadProof::Form("no index"))?, path, checkpoint })
    }

    /// Checks that a log with one of these keys has `entry`, and yields its checkpoint.
    pub fn verify(&self, crypto: &impl Crypto, keys: &[VerifierKey], entry: &[u8]) -> Result<Checkpoint, BadProof> {
        let checkpoint =
            Checkpoint::parse(&self.checkpoint.text).map_err(|_| BadProof::Form("it has no checkpoint"))?;
        self.checkpoint.verify(crypto, keys)?;
        let leaf = merkle::leaf_hash(crypto, entry);
        merkle::inclusion(crypto, &leaf, self.index, (checkpoint.size, &checkpoint.root), &self.path)?;
        Ok(checkpoint)
    }
}

impl std::fmt::Display for TlogProof {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{HEADER}")?;
        if let Some(extra) = &self.extra {
            writeln!(f, "extra {}", STANDARD.encode(extra))?;
        }
        writeln!(f, "index {}", self.index)?;
        self.path.iter().try_for_each(|hash| writeln!(f, "{}", STANDARD.encode(hash)))?;
        write!(f, "\n{}", self.checkpoint)
    }
}

#[cfg(test)]
mod tests;
