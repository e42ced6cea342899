//! Strict parsing of untrusted JSON: no repeated members, no deep nesting, no integer that a double cannot hold.
//!
//! If two parsers disagree about a repeated member, one call is approved and another one runs.

use serde::de::{DeserializeOwned, DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The deepest nesting of arrays and objects.
pub const MAX_DEPTH: usize = 64;

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadJson(String);

/// Parses an object strictly, then into `T`. Members that `T` does not know are ignored (AAP 22.4).
///
/// A derived reader would accept a list of the members' values as the object; here it is an error.
pub fn from_slice<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, BadJson> {
    match value(bytes)? {
        object @ Value::Object(_) => serde_json::from_value(object).map_err(|e| BadJson(without_value(&e.to_string()))),
        _ => Err(BadJson("not a JSON object".into())),
    }
}

/// Removes the found value from a serde error: a misplaced value may be a secret.
fn without_value(why: &str) -> String {
    match why.rsplit_once(", expected ") {
        Some((found, expected)) if found.starts_with("invalid ") => format!("expected {expected}"),
        _ => why.to_owned(),
    }
}

/// Parses strictly into a plain value.
pub fn value(bytes: &[u8]) -> Result<Value, BadJson> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Strict { depth: 0 }.deserialize(&mut reader).map_err(|e| BadJson(e.to_string()))?;
    reader.end().map_err(|e| BadJson(e.to_string()))?;
    Ok(value)
}

#[derive(Clone, Copy)]
struct Strict {
    depth: usize,
}

impl Strict {
    fn deeper<E: serde::de::Error>(self) -> Result<Self, E> {
        if self.depth >= MAX_DEPTH {
            return Err(E::custom(format_args!("nested deeper than {MAX_DEPTH} levels")));
        }
        Ok(Self { depth: self.depth + 1 })
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;
    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_bool<E>(self, v: bool) -> Result<Value, E> {
        Ok(Value::Bool(v))
    }
    fn visit_i64<E: serde::de::Error>(self, v: i64) -> Result<Value, E> {
        exact(v.unsigned_abs())?;
        Ok(Value::Number(v.into()))
    }
    fn visit_u64<E: serde::de::Error>(self, v: u64) -> Result<Value, E> {
        exact(v)?;
        Ok(Value::Number(v.into()))
    }
    fn visit_f64<E: serde::de::Error>(self, v: f64) -> Result<Value, E> {
        Number::from_f64(v).map(Value::Number).ok_or_else(|| E::custom("not a finite number"))
    }
    fn visit_str<E>(self, v: &str) -> Result<Value, E> {
        Ok(Value::String(v.to_owned()))
    }
    fn visit_string<E>(self, v: String) -> Result<Value, E> {
        Ok(Value::String(v))
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let below = self.deeper()?;
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(below)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let below = self.deeper()?;
        let mut members = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            if members.contains_key(&name) {
                return Err(A::Error::custom(format_args!("the member {name:?} occurs twice")));
            }
            members.insert(name, map.next_value_seed(below)?);
        }
        Ok(Value::Object(members))
    }
}

fn exact<E: serde::de::Error>(magnitude: u64) -> Result<(), E> {
    if magnitude < (1 << 53) { Ok(()) } else { Err(E::custom("an integer beyond 2^53 - 1")) }
}

/// The serde default of a switch that is on unless it is set.
pub fn enabled() -> bool {
    true
}
