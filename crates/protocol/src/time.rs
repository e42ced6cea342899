//! One notion of time: milliseconds since 1970, passed as a value.

use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch. Written as RFC 3339 in documents that people read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnixMillis(pub i64);

impl UnixMillis {
    pub const fn from_secs(secs: i64) -> Self {
        Self(secs.saturating_mul(1000))
    }

    /// Whole seconds, rounded down: the form of `iat` and `exp`.
    pub const fn secs(self) -> i64 {
        self.0.div_euclid(1000)
    }

    pub const fn plus_secs(self, secs: i64) -> Self {
        Self(self.0.saturating_add(secs.saturating_mul(1000)))
    }

    pub const fn plus_millis(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    pub const fn millis_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// RFC 3339 in UTC with exactly three fractional digits, so that every time on the wire has the same width.
    pub fn to_rfc3339(self) -> String {
        jiff::Timestamp::from_millisecond(self.0).map(|t| format!("{t:.3}")).unwrap_or_else(|_| "invalid".into())
    }

    /// A date-time of RFC 3339 with its offset, truncated to milliseconds.
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        text.parse::<jiff::Timestamp>().ok().map(|t| Self(t.as_millisecond()))
    }
}

/// An RFC 3339 date-time as a member of a document.
pub mod rfc3339 {
    use super::UnixMillis;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(at: &UnixMillis, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&at.to_rfc3339())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<UnixMillis, D::Error> {
        let text = String::deserialize(from)?;
        UnixMillis::parse_rfc3339(&text).ok_or_else(|| D::Error::custom("not an RFC 3339 date-time"))
    }
}

/// The same for an optional member.
pub mod rfc3339_option {
    use super::UnixMillis;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(at: &Option<UnixMillis>, to: S) -> Result<S::Ok, S::Error> {
        match at {
            Some(at) => to.serialize_some(&at.to_rfc3339()),
            None => to.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<UnixMillis>, D::Error> {
        let Some(text) = Option::<String>::deserialize(from)? else { return Ok(None) };
        UnixMillis::parse_rfc3339(&text).map(Some).ok_or_else(|| D::Error::custom("not an RFC 3339 date-time"))
    }
}

/// A full-date of RFC 3339 (`2025-01-31`).
pub fn is_date(text: &str) -> bool {
    text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::UnixMillis;

    /// AAEP 3.2.5 recommends three digits; every other document has the same.
    #[test]
    fn every_time_is_written_with_three_digits_of_fraction() {
        let written = |millis: i64| UnixMillis(millis).to_rfc3339();
        assert_eq!(written(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(written(1_763_208_000_000), "2025-11-15T12:00:00.000Z");
        assert_eq!(written(1_763_208_000_120), "2025-11-15T12:00:00.120Z");
        assert_eq!(written(-1), "1969-12-31T23:59:59.999Z");
        for millis in [0, 7, 120, 1_763_208_000_999] {
            assert_eq!(UnixMillis::parse_rfc3339(&written(millis)), Some(UnixMillis(millis)));
        }
    }
}
