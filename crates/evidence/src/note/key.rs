//! Verifier keys: `NAME+HEX(key id)+BASE64(type ‖ public key)`.

use crate::crypto::Crypto;
use base64::{Engine as _, engine::general_purpose::STANDARD};

/// What a key signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Ed25519 over the text (0x01).
    Ed25519,
    /// Ed25519 over the text with a time: a witness's cosignature (0x04).
    Cosignature,
}

impl Algorithm {
    fn of(kind: u8) -> Option<Self> {
        match kind {
            1 => Some(Self::Ed25519),
            4 => Some(Self::Cosignature),
            _ => None,
        }
    }

    fn kind(self) -> u8 {
        match self {
            Self::Ed25519 => 1,
            Self::Cosignature => 4,
        }
    }
}

/// The public half of a key that signs notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifierKey {
    pub name: String,
    pub algorithm: Algorithm,
    pub public: [u8; 32],
    pub id: [u8; 4],
}

/// Why a text is no verifier key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadKey {
    #[error("a verifier key has the form NAME+ID+KEY")]
    Form,
    #[error("the key's algorithm is not known: Ed25519 (1) and Ed25519 cosignatures (4) are")]
    Algorithm,
    #[error("the key's id does not fit its name and key")]
    Id,
}

impl VerifierKey {
    /// A key under its name. None if the name has spaces, control characters or a plus.
    pub fn new(crypto: &impl Crypto, name: &str, algorithm: Algorithm, public: [u8; 32]) -> Option<Self> {
        let id = key_id(crypto, name, algorithm, &public);
        name_is_valid(name).then(|| Self { name: name.to_owned(), algorithm, public, id })
    }

    pub fn parse(crypto: &impl Crypto, text: &str) -> Result<Self, BadKey> {
        let mut parts = text.splitn(3, '+');
        let (Some(name), Some(id), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(BadKey::Form);
        };
        let key = STANDARD.decode(key).map_err(|_| BadKey::Form)?;
        let (kind, public) = key.split_first().ok_or(BadKey::Form)?;
        let algorithm = Algorithm::of(*kind).ok_or(BadKey::Algorithm)?;
        let public = public.try_into().map_err(|_| BadKey::Form)?;
        let key = Self::new(crypto, name, algorithm, public).ok_or(BadKey::Form)?;
        if hex::encode(key.id) == id { Ok(key) } else { Err(BadKey::Id) }
    }

    pub(super) fn signs_as(&self, name: &str, id: [u8; 4]) -> bool {
        self.name == name && self.id == id
    }

    /// None if the signature does not fit. A cosignature yields its time.
    pub(super) fn verify(&self, crypto: &impl Crypto, text: &str, signature: &[u8]) -> Option<Option<u64>> {
        match self.algorithm {
            Algorithm::Ed25519 => {
                let signature = signature.try_into().ok()?;
                crypto.verify_ed25519(&self.public, text.as_bytes(), signature).then_some(None)
            }
            Algorithm::Cosignature => {
                let (time, signature) = signature.split_first_chunk::<8>()?;
                let time = u64::from_be_bytes(*time);
                let message = crate::cosignature::message(time, text);
                let fits = crypto.verify_ed25519(&self.public, message.as_bytes(), signature.try_into().ok()?);
                fits.then_some(Some(time))
            }
        }
    }
}

impl std::fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let key = STANDARD.encode([&[self.algorithm.kind()], self.public.as_slice()].concat());
        write!(f, "{}+{}+{key}", self.name, hex::encode(self.id))
    }
}

/// The first four bytes of the digest over name, algorithm and key.
pub fn key_id(crypto: &impl Crypto, name: &str, algorithm: Algorithm, public: &[u8; 32]) -> [u8; 4] {
    let [a, b, c, d, ..] = crypto.sha256(&[name.as_bytes(), b"\n", &[algorithm.kind()], public]);
    [a, b, c, d]
}

pub fn name_is_valid(name: &str) -> bool {
    !name.is_empty() && !name.chars().any(|letter| letter == '+' || letter.is_whitespace() || letter.is_control())
}
