//! Canonical JSON (RFC 8785): the bytes that are hashed and signed.

use serde::Serialize;

#[derive(Debug, thiserror::Error)]
#[error("this value has no canonical form: {0}")]
pub struct NotCanonical(String);

/// The canonical bytes of a value.
///
/// RFC 8785 writes numbers as IEEE doubles, so an integer beyond 2^53 − 1 would silently become another
/// one. Such values are refused here, before anything is hashed.
pub fn to_vec<T: Serialize>(value: &T) -> Result<Vec<u8>, NotCanonical> {
    let value = serde_json::to_value(value).map_err(|e| NotCanonical(e.to_string()))?;
    check(&value)?;
    serde_json_canonicalizer::to_vec(&value).map_err(|e| NotCanonical(e.to_string()))
}

fn check(value: &serde_json::Value) -> Result<(), NotCanonical> {
    use serde_json::Value;
    match value {
        Value::Number(n) => check_number(n),
        Value::Array(items) => items.iter().try_for_each(check),
        Value::Object(members) => members.values().try_for_each(check),
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
    }
}

fn check_number(n: &serde_json::Number) -> Result<(), NotCanonical> {
    const LARGEST: u64 = (1 << 53) - 1;
    let exact = n.is_f64() || n.as_i64().is_some_and(|i| i.unsigned_abs() <= LARGEST);
    if exact { Ok(()) } else { Err(NotCanonical(format!("the integer {n} is beyond 2^53 - 1"))) }
}
