//! Signed notes (C2SP signed-note): a text, and lines with signatures below it.

mod key;

pub use key::{Algorithm, BadKey, VerifierKey, key_id, name_is_valid};

use crate::crypto::Crypto;
use base64::{Engine as _, engine::general_purpose::STANDARD};

/// The longest note that is read.
pub const MAX_BYTES: usize = 1_000_000;
/// The most signatures that are read.
pub const MAX_SIGNATURES: usize = 100;

/// A note, with signatures that are not verified yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The signed text. It ends in a newline.
    pub text: String,
    pub signatures: Vec<Signature>,
}

/// A signature line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    pub name: String,
    pub key_id: [u8; 4],
    pub bytes: Vec<u8>,
}

/// Why bytes are no note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadNote {
    #[error("the note is longer than {MAX_BYTES} bytes")]
    TooLong,
    #[error("the note is not UTF-8 text without control characters")]
    NotText,
    #[error("the note has no signatures below an empty line")]
    Unsigned,
    #[error("the note has more than {MAX_SIGNATURES} signatures")]
    TooManySignatures,
    #[error("line {0} of the signatures is malformed")]
    SignatureLine(usize),
}

/// Why a note is not trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Untrusted {
    #[error("none of its signatures is by a known key")]
    NoKnownKey,
    #[error("the signature of {0} does not fit the text")]
    BadSignature(String),
}

impl Note {
    pub fn parse(bytes: &[u8]) -> Result<Self, BadNote> {
        if bytes.len() > MAX_BYTES {
            return Err(BadNote::TooLong);
        }
        let whole = std::str::from_utf8(bytes).map_err(|_| BadNote::NotText)?;
        if whole.bytes().any(|byte| byte < b' ' && byte != b'\n') {
            return Err(BadNote::NotText);
        }
        let empty_line = whole.rfind("\n\n").ok_or(BadNote::Unsigned)?;
        let (text, below) = whole.split_at_checked(empty_line + 1).ok_or(BadNote::Unsigned)?;
        let lines = below.strip_prefix('\n').and_then(|lines| lines.strip_suffix('\n')).ok_or(BadNote::Unsigned)?;
        Ok(Self { text: text.to_owned(), signatures: signatures(lines)? })
    }

    /// The keys with a valid signature. Signatures by unknown keys are ignored; a bad one by a known key spoils the note.
    pub fn verify<'k>(
        &self,
        crypto: &impl Crypto,
        known: &'k [VerifierKey],
    ) -> Result<Vec<(&'k VerifierKey, Option<u64>)>, Untrusted> {
        let mut valid: Vec<(&VerifierKey, Option<u64>)> = Vec::new();
        for signature in &self.signatures {
            let Some(key) = known.iter().find(|key| key.signs_as(&signature.name, signature.key_id)) else { continue };
            let time = key
                .verify(crypto, &self.text, &signature.bytes)
                .ok_or_else(|| Untrusted::BadSignature(signature.name.clone()))?;
            if !valid.iter().any(|(one, _)| *one == key) {
                valid.push((key, time));
            }
        }
        if valid.is_empty() { Err(Untrusted::NoKnownKey) } else { Ok(valid) }
    }
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}", self.text)?;
        self.signatures.iter().try_for_each(|signature| writeln!(f, "{signature}"))
    }
}

impl std::fmt::Display for Signature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "— {} {}", self.name, STANDARD.encode([&self.key_id, self.bytes.as_slice()].concat()))
    }
}

impl Signature {
    /// Reads one line, without its newline.
    pub fn parse(line: &str) -> Option<Self> {
        let (name, rest) = line.strip_prefix("— ")?.split_once(' ')?;
        let bytes = STANDARD.decode(rest).ok()?;
        let (key_id, bytes) = bytes.split_first_chunk::<4>()?;
        let valid = name_is_valid(name) && !bytes.is_empty();
        valid.then(|| Self { name: name.to_owned(), key_id: *key_id, bytes: bytes.to_vec() })
    }
}

/// Signature lines, as below a note and in a witness's answer.
pub(crate) fn signatures(lines: &str) -> Result<Vec<Signature>, BadNote> {
    let mut signatures = Vec::new();
    for (number, line) in (1..).zip(lines.split('\n')) {
        if number > MAX_SIGNATURES {
            return Err(BadNote::TooManySignatures);
        }
        signatures.push(Signature::parse(line).ok_or(BadNote::SignatureLine(number))?);
    }
    Ok(signatures)
}

#[cfg(test)]
mod tests;
