//! Texts signed exactly as written: times and digests.

use crate::{aaep::ids::parse_date_time, hash::Digest, time::UnixMillis};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a date-time of RFC 3339 in UTC that ends in Z, such as 2026-05-10T15:00:00Z")]
pub struct NotAStamp;

/// A UTC time in one notation (W-21). Other offsets, lower-case letters, leap seconds and more than nine decimals are
/// refused, since parsers disagree about them.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Stamp {
    text: String,
    at: UnixMillis,
}

impl Stamp {
    pub fn of(at: UnixMillis) -> Self {
        Self { text: at.to_rfc3339(), at }
    }

    /// Now, or the time of the last entry if that is later: times along a chain never decrease, and a signed answer may
    /// be ahead of our clock.
    pub fn not_before(now: UnixMillis, last: &Self) -> Self {
        let now = Self::of(now);
        if now.is_before(last) { last.clone() } else { now }
    }

    /// Compares all written decimals.
    pub fn is_before(&self, other: &Self) -> bool {
        self.parts() < other.parts()
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Rounded up to a millisecond, so that no later entry is dated earlier.
    pub fn at(&self) -> UnixMillis {
        self.at
    }

    /// Seconds of fixed width, and decimals: their text order is their time order.
    fn parts(&self) -> (&str, &str) {
        let (seconds, rest) = self.text.split_at_checked(SECONDS).unwrap_or_default();
        (seconds, rest.trim_end_matches('Z').trim_end_matches('0').trim_start_matches('.'))
    }
}

const SECONDS: usize = "0000-00-00T00:00:00".len();

impl std::str::FromStr for Stamp {
    type Err = NotAStamp;
    fn from_str(text: &str) -> Result<Self, NotAStamp> {
        let odd = text.contains(['t', 'z']) || !text.ends_with('Z') || text.get(17..19) == Some("60");
        let short = text.len() <= SECONDS + ".123456789Z".len();
        let at = if odd || !short { None } else { parse_date_time(text) };
        at.map(|at| Self { text: text.to_owned(), at: rounded_up(at, text) }).ok_or(NotAStamp)
    }
}

fn rounded_up(cut_off: UnixMillis, text: &str) -> UnixMillis {
    let finer = text.get(SECONDS + ".123".len()..).unwrap_or_default();
    let any = finer.bytes().any(|b| (b'1'..=b'9').contains(&b));
    cut_off.plus_millis(i64::from(any))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be sha256: and 64 lower-case hex digits")]
pub struct NotADigest;

/// A SHA-256 digest with its prefix.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct DigestText(pub Digest);

impl From<Digest> for DigestText {
    fn from(digest: Digest) -> Self {
        Self(digest)
    }
}

impl From<DigestText> for Digest {
    fn from(text: DigestText) -> Self {
        text.0
    }
}

impl std::str::FromStr for DigestText {
    type Err = NotADigest;
    fn from_str(text: &str) -> Result<Self, NotADigest> {
        let digits = text.strip_prefix("sha256:").filter(|digits| !digits.bytes().any(|b| b.is_ascii_uppercase()));
        digits.and_then(Digest::from_hex).map(Self).ok_or(NotADigest)
    }
}

impl std::fmt::Display for DigestText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "sha256:{}", self.0.hex())
    }
}

impl std::fmt::Display for Stamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// The OpenAPI schema of a text type.
macro_rules! schema_of_text {
    ($name:ident) => {
        #[cfg(feature = "openapi")]
        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                <String as utoipa::PartialSchema>::schema()
            }
        }

        #[cfg(feature = "openapi")]
        impl utoipa::ToSchema for $name {}
    };
}
pub(super) use schema_of_text;

macro_rules! as_text {
    ($name:ident) => {
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(from)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        schema_of_text!($name);
    };
}

as_text!(Stamp);
as_text!(DigestText);

#[cfg(test)]
mod tests;
