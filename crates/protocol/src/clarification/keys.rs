//! Ed25519 keys and signatures as texts: `ed25519:` and hex, with base64 accepted as well (W-01).
//!
//! A signature covers the text in a document, not the decoded bytes, so the text is kept as read.

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD},
};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadKeyText {
    #[error("must begin with ed25519:")]
    NoPrefix,
    #[error("must have {0} lower-case hex digits after ed25519:, or the same bytes in base64 or base64url")]
    NotTheBytes(usize),
}

/// A public key. Two spellings of one key are equal.
#[derive(Clone)]
pub struct PublicKey {
    text: String,
    bytes: [u8; 32],
}

/// A signature, not verified here.
#[derive(Clone)]
pub struct Signature {
    text: String,
    bytes: [u8; 64],
}

macro_rules! bytes_as_text {
    ($name:ident, $width:literal) => {
        impl $name {
            /// In the spelling that we emit.
            pub fn from_bytes(bytes: [u8; $width]) -> Self {
                Self { text: format!("{PREFIX}{}", hex::encode(bytes)), bytes }
            }

            pub fn bytes(&self) -> &[u8; $width] {
                &self.bytes
            }

            /// The text as read, which signatures cover.
            pub fn as_str(&self) -> &str {
                &self.text
            }
        }

        impl std::str::FromStr for $name {
            type Err = BadKeyText;
            fn from_str(text: &str) -> Result<Self, BadKeyText> {
                Ok(Self { text: text.to_owned(), bytes: read(text)? })
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.bytes == other.bytes
            }
        }

        impl Eq for $name {}

        impl std::hash::Hash for $name {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                self.bytes.hash(state);
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.text)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.text)
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(&self.text)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(from)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        super::text::schema_of_text!($name);
    };
}

bytes_as_text!(PublicKey, 32);
bytes_as_text!(Signature, 64);

const PREFIX: &str = "ed25519:";

/// The lengths of the spellings are disjoint, so nothing has to be guessed. Upper-case hex and spare bits in base64 are
/// refused: they would be a second text for the same bytes.
fn read<const WIDTH: usize>(text: &str) -> Result<[u8; WIDTH], BadKeyText> {
    let digits = text.strip_prefix(PREFIX).ok_or(BadKeyText::NoPrefix)?;
    let unpadded = (WIDTH * 4).div_ceil(3);
    let found = match digits.len() {
        length if length == WIDTH * 2 => lower_hex(digits),
        length if length == unpadded => STANDARD_NO_PAD.decode(digits).or_else(|_| URL_SAFE_NO_PAD.decode(digits)).ok(),
        length if length == unpadded.next_multiple_of(4) => {
            STANDARD.decode(digits).or_else(|_| URL_SAFE.decode(digits)).ok()
        }
        _ => None,
    };
    found.and_then(|bytes| bytes.try_into().ok()).ok_or(BadKeyText::NotTheBytes(WIDTH * 2))
}

fn lower_hex(digits: &str) -> Option<Vec<u8>> {
    let lower = !digits.bytes().any(|b| b.is_ascii_uppercase());
    if lower { hex::decode(digits).ok() } else { None }
}

#[cfg(test)]
mod tests;
