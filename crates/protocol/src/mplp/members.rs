//! Constraints of the published schemas on single members, as serde readers.

use serde::{Deserialize, Deserializer, de::Error};

/// A date-time with `T`, seconds and an offset. Lower-case letters and leap seconds are refused, since validators
/// disagree about them.
pub(super) mod moment {
    use crate::{aaep::ids::parse_date_time, time::UnixMillis};
    use serde::{Deserialize, Deserializer, de::Error};

    pub(crate) use crate::time::rfc3339::serialize;

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<UnixMillis, D::Error> {
        parse(&String::deserialize(from)?).ok_or_else(|| D::Error::custom(WANTED))
    }

    pub(super) const WANTED: &str =
        "must be a date-time of RFC 3339 with its offset, such as 2025-12-07T00:00:00Z or 2025-12-07T01:00:00+01:00";

    pub(super) fn parse(text: &str) -> Option<UnixMillis> {
        let disputed = text.contains(['t', 'z']) || text.get(17..19) == Some("60");
        if disputed { None } else { parse_date_time(text) }
    }
}

/// The same for an optional member.
pub(super) mod moment_option {
    use super::moment;
    use crate::time::UnixMillis;
    use serde::{Deserialize, Deserializer, de::Error};

    pub(crate) use crate::time::rfc3339_option::serialize;

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<UnixMillis>, D::Error> {
        let Some(text) = Option::<String>::deserialize(from)? else { return Ok(None) };
        moment::parse(&text).map(Some).ok_or_else(|| D::Error::custom(moment::WANTED))
    }
}

/// Three numbers between dots. Any version is accepted; we write ours (M-05).
pub(super) fn version<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let sound = |text: &str| text.split('.').count() == 3 && text.split('.').all(digits);
    checked(from, sound, "must be three numbers between dots, such as 1.0.0")
}

/// Words between dots: the vocabulary inside objects, where an underscore is no letter (M-15).
pub(super) fn event_type<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let word = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    let sound = |text: &str| text.split('.').all(word);
    checked(from, sound, "must be lower-case words between dots, such as confirm.requested: no underscores")
}

pub(super) fn some_text<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    checked(from, |text| !text.is_empty(), "must not be empty")
}

fn checked<'de, D: Deserializer<'de>>(from: D, sound: impl Fn(&str) -> bool, why: &str) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    if sound(&text) { Ok(text) } else { Err(D::Error::custom(why)) }
}

pub(super) fn at_least_one<'de, D, T>(from: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let items = Vec::deserialize(from)?;
    if items.is_empty() { Err(D::Error::custom("must have at least one entry")) } else { Ok(items) }
}

pub(super) fn each_once<'de, D, T>(from: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Ord,
{
    let items = Vec::<T>::deserialize(from)?;
    let different = items.iter().collect::<std::collections::BTreeSet<_>>().len();
    if different == items.len() { Ok(items) } else { Err(D::Error::custom("must not name anything twice")) }
}

/// An object, or null, which means the same as absent.
pub(super) fn object_or_null<'de, D, T>(from: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: serde::de::DeserializeOwned,
{
    match serde_json::Value::deserialize(from)? {
        serde_json::Value::Null => Ok(None),
        object @ serde_json::Value::Object(_) => serde_json::from_value(object).map(Some).map_err(D::Error::custom),
        _ => Err(D::Error::custom("must be an object or null")),
    }
}
