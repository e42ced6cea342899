//! Checks before any signature: members and sizes.

use super::{Flaw, Wrong, key};
use countersign_protocol::{
    clarification::{
        Gap, PublicKey, Signature, SignedType,
        limits::{MAX_GAPS, MAX_STRING},
        signed::{self},
    },
    mplp::read,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads a document by its closed shape, after checking the lengths of its texts.
pub(super) fn read<T: DeserializeOwned>(document: &Value) -> Result<T, Wrong> {
    texts_fit(document)?;
    read_unbounded(document)
}

/// The same for a document with a plan, whose texts are not limited.
pub(super) fn read_unbounded<T: DeserializeOwned>(document: &Value) -> Result<T, Wrong> {
    Ok(read::value(document)?)
}

/// No text exceeds the limit (W-32).
pub(super) fn texts_fit(value: &Value) -> Result<(), Wrong> {
    match value {
        Value::String(text) => {
            bounded("characters", MAX_STRING, text.chars().count()).map_err(|flaw| Wrong::at("", flaw))
        }
        Value::Array(items) => {
            items.iter().enumerate().try_for_each(|(at, item)| texts_fit(item).map_err(|w| w.under(&format!("[{at}]"))))
        }
        Value::Object(members) => {
            members.iter().try_for_each(|(name, item)| texts_fit(item).map_err(|w| w.under(name)))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

pub(super) fn bounded(what: &'static str, limit: usize, found: usize) -> Result<(), Flaw> {
    if found <= limit { Ok(()) } else { Err(Flaw::TooMuch { what, limit, found }) }
}

/// A member as written; null if absent.
pub(super) fn member(document: &Value, name: &str) -> Value {
    document.get(name).cloned().unwrap_or(Value::Null)
}

/// Checks the `signature` of a document, which covers the rest of it.
pub(super) fn signed_whole(
    kind: SignedType,
    document: &Value,
    key: &PublicKey,
    signature: &Signature,
) -> Result<(), Wrong> {
    signed_body(kind, &signed::without(document, "signature"), key, signature)
        .map(drop)
        .map_err(|w| w.under("signature"))
}

/// Checks a signature over a body, and returns the signed bytes.
pub(super) fn signed_body(
    kind: SignedType,
    body: &Value,
    key: &PublicKey,
    signature: &Signature,
) -> Result<Vec<u8>, Wrong> {
    let input = signed::input(kind, body)?;
    key::verify(key, &input, signature).map_err(|_| Wrong::at("", Flaw::BadSignature(kind)))?;
    Ok(input)
}

/// Equal apart from case and whitespace: how an answer matches a suggestion (W-14).
pub(super) fn equal_ignoring_case(left: &str, right: &str) -> bool {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    plain(left) == plain(right)
}

/// The gaps of a message: within the limit, each with a unique id.
pub(super) fn gaps_fit(gaps: &[Gap]) -> Result<(), Wrong> {
    bounded("gaps", MAX_GAPS, gaps.len()).map_err(|flaw| Wrong::at("gaps", flaw))?;
    for (at, gap) in gaps.iter().enumerate() {
        gap_fits(gap).map_err(|wrong| wrong.under(&format!("gaps[{at}]")))?;
        if gaps.iter().take(at).any(|other| other.id == gap.id) {
            return Err(Wrong::at(format!("gaps[{at}].id"), Flaw::GapReused));
        }
    }
    Ok(())
}

/// `gap-001`, and texts that are not blank (W-24).
pub(super) fn gap_fits(gap: &Gap) -> Result<(), Wrong> {
    let digits = gap.id.strip_prefix("gap-").unwrap_or_default();
    let numbered = digits.len() >= 3 && digits.bytes().all(|b| b.is_ascii_digit());
    let padded = digits.len() == 3 || !digits.starts_with('0');
    if !(numbered && padded) {
        return Err(Wrong::malformed("id", "must be gap- and a number of three digits or more, such as gap-001"));
    }
    let texts = [("field", &gap.field), ("question", &gap.question)];
    match texts.into_iter().find(|(_, text)| text.trim().is_empty()) {
        Some((name, _)) => Err(Wrong::malformed(name, "must not be blank")),
        None => Ok(()),
    }
}
