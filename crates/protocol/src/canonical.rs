//! Canonical JSON (RFC 8785): the bytes that are hashed and signed.

use serde::Serialize;

#[derive(Debug, thiserror::Error)]
#[error("this value has no canonical form: {0}")]
pub struct NotCanonical(String);

/// The canonical bytes of a value.
///
/// RFC 8785 writes numbers as IEEE doubles, so an integer beyond 2^53 − 1 would silently change. Such values are
/// refused here, before anything is hashed.
pub fn to_vec<T: Serialize>(value: &T) -> Result<Vec<u8>, NotCanonical> {
    of_value(&value_of(value)?)
}

/// A document as a plain value, on the way to its canonical bytes.
pub(crate) fn value_of<T: Serialize + ?Sized>(value: &T) -> Result<serde_json::Value, NotCanonical> {
    serde_json::to_value(value).map_err(|e| NotCanonical(e.to_string()))
}

/// The same for a JSON value, without copying it first; used on the audit path.
///
/// If all names are ASCII and no number is a fraction, serde_json writes exactly the form of RFC 8785: its maps are
/// sorted by bytes, which for ASCII is the order of UTF-16 units, and it escapes the same characters in the same way.
/// That is a tenth of the library's cost; everything else goes to the library.
pub fn of_value(value: &serde_json::Value) -> Result<Vec<u8>, NotCanonical> {
    let plain = check(value)?;
    let bytes = if plain { serde_json::to_vec(value) } else { serde_json_canonicalizer::to_vec(value) };
    bytes.map_err(|e| NotCanonical(e.to_string()))
}

/// A value whose canonical form is written without a [`serde_json::Value`] of it.
pub trait CanonicalValue {
    fn write_to(&self, out: &mut Vec<u8>) -> Result<(), NotCanonical>;
}

/// Plain values, as serde_json writes them.
macro_rules! plain {
    ($($of:ty),*) => {
        $(impl CanonicalValue for $of {
            fn write_to(&self, out: &mut Vec<u8>) -> Result<(), NotCanonical> {
                serde_json::to_writer(out, self).map_err(|e| NotCanonical(e.to_string()))
            }
        })*
    };
}

macro_rules! whole_numbers {
    ($($of:ty),*) => {
        $(impl CanonicalValue for $of {
            fn write_to(&self, out: &mut Vec<u8>) -> Result<(), NotCanonical> {
                check_number(&(*self).into())?;
                serde_json::to_writer(out, self).map_err(|e| NotCanonical(e.to_string()))
            }
        })*
    };
}

plain!((), bool, str, String, i32, u32, u16, u8);
whole_numbers!(i64, u64, usize);

/// RFC 8785 writes fractions in a way of its own; what is not a number becomes null, as in serde_json.
impl CanonicalValue for f64 {
    fn write_to(&self, out: &mut Vec<u8>) -> Result<(), NotCanonical> {
        serde_json::Value::from(*self).write_to(out)
    }
}

impl CanonicalValue for serde_json::Value {
    fn write_to(&self, out: &mut Vec<u8>) -> Result<(), NotCanonical> {
        out.extend(of_value(self)?);
        Ok(())
    }
}

impl<T: CanonicalValue + ?Sized> CanonicalValue for &T {
    fn write_to(&self, out: &mut Vec<u8>) -> Result<(), NotCanonical> {
        (**self).write_to(out)
    }
}

impl<T: CanonicalValue> CanonicalValue for [T] {
    fn write_to(&self, out: &mut Vec<u8>) -> Result<(), NotCanonical> {
        for (n, item) in self.iter().enumerate() {
            out.push(if n == 0 { b'[' } else { b',' });
            item.write_to(out)?;
        }
        out.extend_from_slice(if self.is_empty() { b"[]" } else { b"]" });
        Ok(())
    }
}

impl<T: CanonicalValue> CanonicalValue for Vec<T> {
    fn write_to(&self, out: &mut Vec<u8>) -> Result<(), NotCanonical> {
        self.as_slice().write_to(out)
    }
}

/// Whether serde_json's output is canonical, as [`of_value`] explains; an error if there is no canonical form at all.
fn check(value: &serde_json::Value) -> Result<bool, NotCanonical> {
    use serde_json::Value;
    match value {
        Value::Number(n) => check_number(n).map(|()| !n.is_f64()),
        Value::Array(items) => items.iter().try_fold(true, |plain, item| Ok(check(item)? && plain)),
        Value::Object(members) => {
            members.iter().try_fold(true, |plain, (name, item)| Ok(check(item)? && plain && name.is_ascii()))
        }
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(true),
    }
}

fn check_number(n: &serde_json::Number) -> Result<(), NotCanonical> {
    const LARGEST: u64 = (1 << 53) - 1;
    let exact = n.is_f64() || n.as_i64().is_some_and(|i| i.unsigned_abs() <= LARGEST);
    if exact { Ok(()) } else { Err(NotCanonical(format!("the integer {n} is beyond 2^53 - 1"))) }
}

#[cfg(test)]
mod tests;
