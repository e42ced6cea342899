//! Unkeyed SHA-256, in the forms of documents and tables.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

/// Parts of together at most this length are joined.
const JOINED: usize = 512;

/// A SHA-256 digest. Its text form is lower-case hex.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    pub fn of(bytes: &[u8]) -> Self {
        let mut out = [0; 32];
        out.copy_from_slice(aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, bytes).as_ref());
        Self(out)
    }

    /// The digest of the concatenated parts.
    pub fn of_parts(parts: &[&[u8]]) -> Self {
        // Joining a few bytes is cheaper than a context on the heap.
        let mut joined = [0; JOINED];
        let mut room = joined.as_mut_slice();
        for part in parts {
            let Some((place, rest)) = room.split_at_mut_checked(part.len()) else { return Self::of_long(parts) };
            place.copy_from_slice(part);
            room = rest;
        }
        let length = JOINED - room.len();
        Self::of(joined.get(..length).unwrap_or_default())
    }

    fn of_long(parts: &[&[u8]]) -> Self {
        let mut hasher = Hasher::default();
        for part in parts {
            hasher.update(part);
        }
        hasher.finish()
    }

    pub fn hex(&self) -> String {
        hex::encode(self.0)
    }

    pub fn from_hex(text: &str) -> Option<Self> {
        let mut out = [0; 32];
        hex::decode_to_slice(text, &mut out).ok().map(|()| Self(out))
    }

    /// The form that JOSE uses (`ath`, thumbprints, PKCE challenges).
    pub fn base64url(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    pub fn from_base64url(text: &str) -> Option<Self> {
        URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok().map(Self)
    }
}

/// A digest of bytes that come piece by piece.
pub struct Hasher(aws_lc_rs::digest::Context);

impl Default for Hasher {
    fn default() -> Self {
        Self(aws_lc_rs::digest::Context::new(&aws_lc_rs::digest::SHA256))
    }
}

impl Hasher {
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub fn finish(self) -> Digest {
        let mut out = [0; 32];
        out.copy_from_slice(self.0.finish().as_ref());
        Digest(out)
    }
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.hex())
    }
}

impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.hex())
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(from)?;
        Self::from_hex(&text).ok_or_else(|| serde::de::Error::custom("not a SHA-256 digest in hex"))
    }
}
