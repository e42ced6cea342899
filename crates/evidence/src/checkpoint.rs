//! Checkpoints (C2SP tlog-checkpoint): a log's name, its size and its root, as the text of a signed note.

use crate::{
    crypto::{Crypto, Hash},
    note::{Algorithm, Note, Signature, key_id, name_is_valid},
    tile::decimal,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};

/// What a log states about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The log's name, like `example.com/log42`: no scheme.
    pub origin: String,
    pub size: u64,
    pub root: Hash,
    /// Lines that we do not know. They are signed as well.
    pub extensions: Vec<String>,
}

/// Why a text is no checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadCheckpoint {
    #[error("a checkpoint has an origin, a size and a root, each on its line")]
    Lines,
    #[error("the checkpoint's origin is not a name")]
    Origin,
    #[error("the checkpoint's size is not a decimal number")]
    Size,
    #[error("the checkpoint's root is not a SHA-256 digest in base64")]
    Root,
}

impl Checkpoint {
    pub fn new(origin: &str, size: u64, root: Hash) -> Self {
        Self { origin: origin.to_owned(), size, root, extensions: Vec::new() }
    }

    /// Reads a note's text.
    pub fn parse(text: &str) -> Result<Self, BadCheckpoint> {
        let lines: Vec<&str> = text.strip_suffix('\n').ok_or(BadCheckpoint::Lines)?.split('\n').collect();
        let [origin, size, root, extensions @ ..] = lines.as_slice() else { return Err(BadCheckpoint::Lines) };
        if extensions.iter().any(|line| line.is_empty()) {
            return Err(BadCheckpoint::Lines);
        }
        let root = STANDARD.decode(root).ok().and_then(|root| Hash::try_from(root).ok());
        Ok(Self {
            origin: Some(*origin).filter(|origin| !origin.is_empty()).ok_or(BadCheckpoint::Origin)?.to_owned(),
            size: decimal(size).ok_or(BadCheckpoint::Size)?,
            root: root.ok_or(BadCheckpoint::Root)?,
            extensions: extensions.iter().map(|line| (*line).to_owned()).collect(),
        })
    }

    /// The text to sign.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n{}\n{}\n", self.origin, self.size, STANDARD.encode(self.root));
        self.extensions.iter().for_each(|line| text.extend([line.as_str(), "\n"]));
        text
    }

    /// The note with the log's own signature. `sign` makes an Ed25519 signature with the key `public`. None if the
    /// origin cannot be a key's name.
    pub fn sign(&self, crypto: &impl Crypto, public: &[u8; 32], sign: impl FnOnce(&[u8]) -> [u8; 64]) -> Option<Note> {
        let text = self.text();
        let key_id = key_id(crypto, &self.origin, Algorithm::Ed25519, public);
        let bytes = sign(text.as_bytes()).to_vec();
        let signatures = Vec::from([Signature { name: self.origin.clone(), key_id, bytes }]);
        name_is_valid(&self.origin).then_some(Note { text, signatures })
    }
}

#[cfg(test)]
mod tests;
