//! The one spelling of an identifier: a bare UUID of version 4 in lower case (M-02, M-03, M-04).

use crate::hash::Digest;
use serde::{Deserialize, Serialize};

/// The id of any MPLP object. Input is never normalised: two spellings of one id would be two ids to some reader.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct MplpId(String);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAnMplpId {
    #[error("must be a bare UUID: remove the text before it")]
    Prefixed,
    #[error("must be written in lower case")]
    UpperCase,
    #[error("must be a UUID of version 4, which has a 4 after the second hyphen and 8, 9, a or b after the third")]
    AnotherVersion,
    #[error("must be a UUID of version 4 in lower case, such as 3f2b8c1d-5e6f-4a7b-8c9d-0e1f2a3b4c5d")]
    NotAUuid,
}

impl MplpId {
    pub fn parse(text: &str) -> Result<Self, NotAnMplpId> {
        if !is_uuid(text) {
            let prefixed = tail(text).is_some_and(is_uuid);
            return Err(if prefixed { NotAnMplpId::Prefixed } else { NotAnMplpId::NotAUuid });
        }
        if text.bytes().any(|b| b.is_ascii_uppercase()) {
            return Err(NotAnMplpId::UpperCase);
        }
        let bytes = text.as_bytes();
        let fourth = bytes.get(14) == Some(&b'4') && bytes.get(19).is_some_and(|b| b"89ab".contains(b));
        if fourth { Ok(Self(text.to_owned())) } else { Err(NotAnMplpId::AnotherVersion) }
    }

    /// Sixteen random bytes, with six bits replaced by version and variant.
    pub fn from_random(mut bytes: [u8; 16]) -> Self {
        let [.., version, _, variant, _, _, _, _, _, _, _] = &mut bytes;
        *version = (*version & 0x0f) | 0x40;
        *variant = (*variant & 0x3f) | 0x80;
        Self(hyphenated(&hex::encode(bytes)))
    }

    /// A derived id: always the same, so that it need not be stored.
    pub fn of_hash(digest: &Digest) -> Self {
        let mut bytes = [0; 16];
        bytes.iter_mut().zip(digest.0).for_each(|(to, from)| *to = from);
        Self::from_random(bytes)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The 32 digits without hyphens: the tail of our own prefixed ids.
    pub fn simple(&self) -> String {
        self.0.replace('-', "")
    }

    /// The id with these digits; none if they are not a UUID of version 4.
    pub fn from_simple(digits: &str) -> Option<Self> {
        let sound = digits.len() == 32 && digits.bytes().all(|b| b.is_ascii_hexdigit());
        if sound { Self::parse(&hyphenated(digits)).ok() } else { None }
    }
}

impl std::fmt::Display for MplpId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::str::FromStr for MplpId {
    type Err = NotAnMplpId;
    fn from_str(text: &str) -> Result<Self, NotAnMplpId> {
        Self::parse(text)
    }
}

impl<'de> Deserialize<'de> for MplpId {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(from)?).map_err(serde::de::Error::custom)
    }
}

const HYPHENS: [usize; 4] = [8, 13, 18, 23];

fn is_uuid(text: &str) -> bool {
    let fits = |(at, b): (usize, u8)| if HYPHENS.contains(&at) { b == b'-' } else { b.is_ascii_hexdigit() };
    text.len() == 36 && text.bytes().enumerate().all(fits)
}

/// The last 36 bytes, if there are more before them.
fn tail(text: &str) -> Option<&str> {
    text.get(text.len().checked_sub(36)?..)
}

fn hyphenated(digits: &str) -> String {
    let mut text = String::with_capacity(36);
    for digit in digits.chars() {
        if HYPHENS.contains(&text.len()) {
            text.push('-');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests;
