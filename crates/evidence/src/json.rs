//! Strict reading of JSON: no repeated members, no deep nesting.
//!
//! If two parsers disagreed about a repeated member, two verifiers would read two stories.

use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The deepest nesting of arrays and objects.
pub(crate) const MAX_DEPTH: usize = 64;
/// The largest integer that every reader of JSON keeps.
pub(crate) const MAX_INTEGER: u64 = (1 << 53) - 1;

/// Which numbers are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// Integers from 0 to 2^53 − 1.
    Counts,
    Any,
}

/// Parses text, or says what is wrong with it.
pub(crate) fn value(text: &str, numbers: Numbers) -> Result<Value, String> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Strict { depth: 0, numbers }.deserialize(&mut reader).map_err(|why| why.to_string())?;
    reader.end().map_err(|why| why.to_string())?;
    Ok(value)
}

#[derive(Clone, Copy)]
struct Strict {
    depth: usize,
    numbers: Numbers,
}

impl Strict {
    fn deeper<E: serde::de::Error>(self) -> Result<Self, E> {
        match self.depth < MAX_DEPTH {
            true => Ok(Self { depth: self.depth + 1, ..self }),
            false => Err(E::custom(format_args!("nested deeper than {MAX_DEPTH} levels"))),
        }
    }

    fn number<E: serde::de::Error>(self, number: Number) -> Result<Value, E> {
        let count = number.as_u64().is_some_and(|count| count <= MAX_INTEGER);
        match count || self.numbers == Numbers::Any {
            true => Ok(Value::Number(number)),
            false => Err(E::custom("a number that is no integer from 0 to 2^53 - 1")),
        }
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
        self.number(v.into())
    }
    fn visit_u64<E: serde::de::Error>(self, v: u64) -> Result<Value, E> {
        self.number(v.into())
    }
    fn visit_f64<E: serde::de::Error>(self, v: f64) -> Result<Value, E> {
        self.number(Number::from_f64(v).ok_or_else(|| E::custom("not a finite number"))?)
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
