//! Reads a document strictly; errors name the wrong member and the expected value.
//!
//! Code derived by serde accepts a list for an object and null for an absent member. The schemas do not, so values go
//! through our own deserializer. It never repeats the input, which might be a misplaced secret.

use crate::json;
use serde::{
    Deserialize,
    de::{self, DeserializeOwned, Expected, IntoDeserializer, Unexpected, Visitor},
    forward_to_deserialize_any,
};
use serde_json::Value;

/// A problem of a document, for the developer who sent it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}{why}", member, if member.is_empty() { "" } else { ": " })]
pub struct BadDocument {
    /// The member's path, such as `steps[0].step_id`; empty for the document as a whole.
    pub member: String,
    pub why: String,
}

impl BadDocument {
    pub fn new(member: impl Into<String>, why: impl Into<String>) -> Self {
        Self { member: member.into(), why: why.into() }
    }

    /// The same error with the path seen from an enclosing object.
    pub(super) fn under(self, name: &str) -> Self {
        let dot = if self.member.is_empty() || self.member.starts_with('[') { "" } else { "." };
        Self { member: format!("{name}{dot}{}", self.member), why: self.why }
    }
}

/// Parses bytes strictly into a document.
pub fn document<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, BadDocument> {
    value(&json::value(bytes).map_err(|why| BadDocument::new("", why.to_string()))?)
}

/// The same from a value that was already parsed strictly.
pub fn value<'de, T: Deserialize<'de>>(value: &'de Value) -> Result<T, BadDocument> {
    T::deserialize(ValueAt(value))
}

impl de::Error for BadDocument {
    fn custom<T: std::fmt::Display>(why: T) -> Self {
        Self::new("", why.to_string())
    }
    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new("", format!("must be {expected}"))
    }
    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new("", format!("must be {expected}"))
    }
    fn unknown_variant(found: &str, expected: &'static [&'static str]) -> Self {
        Self::new("", with_hint(format!("must be one of {}", expected.join(", ")), hint_for_value(found)))
    }
    fn unknown_field(found: &str, _: &'static [&'static str]) -> Self {
        Self::new("", with_hint("is no member of this document".into(), hint_for_member(found)))
    }
    fn missing_field(field: &'static str) -> Self {
        Self::new(field, "is required")
    }
}

/// A value being read. Its path is assembled while an error travels outwards.
struct ValueAt<'de>(&'de Value);

impl<'de> ValueAt<'de> {
    fn object(self) -> Result<MemberReader<'de>, BadDocument> {
        match self.0 {
            Value::Object(members) => Ok(MemberReader { members: members.iter(), next: None }),
            _ => Err(BadDocument::new("", "must be an object")),
        }
    }

    /// JSON has no integer type: 1.0 is a whole number too.
    fn whole(&self) -> Result<i64, BadDocument> {
        const BEYOND: f64 = 9_007_199_254_740_992.0;
        let float = |number: f64| (number.fract() == 0.0 && number.abs() < BEYOND).then_some(number as i64);
        let found = self.0.as_i64().or_else(|| self.0.as_f64().and_then(float));
        found.ok_or_else(|| BadDocument::new("", "must be a whole number"))
    }
}

macro_rules! whole_numbers {
    ($($name:ident)*) => {
        $(fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadDocument> {
            visitor.visit_i64(self.whole()?).map_err(|_: BadDocument| BadDocument::new("", "must be a whole number, 0 or more"))
        })*
    };
}

impl<'de> de::Deserializer<'de> for ValueAt<'de> {
    type Error = BadDocument;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadDocument> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(found) => visitor.visit_bool(*found),
            Value::Number(found) => match (found.as_u64(), found.as_i64()) {
                (Some(found), _) => visitor.visit_u64(found),
                (None, Some(found)) => visitor.visit_i64(found),
                (None, None) => visitor.visit_f64(found.as_f64().unwrap_or(f64::NAN)),
            },
            Value::String(found) => visitor.visit_borrowed_str(found),
            Value::Array(items) => visitor.visit_seq(Items(items.iter().enumerate())),
            Value::Object(_) => visitor.visit_map(self.object()?),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadDocument> {
        match self.0 {
            Value::Null => Err(BadDocument::new("", "must not be null: leave it out")),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, BadDocument> {
        visitor.visit_map(self.object()?)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadDocument> {
        visitor.visit_map(self.object()?)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadDocument> {
        match self.0 {
            Value::Array(items) => visitor.visit_seq(Items(items.iter().enumerate())),
            _ => Err(BadDocument::new("", "must be a list")),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        words: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, BadDocument> {
        let Value::String(word) = self.0 else {
            return Err(BadDocument::new("", format!("must be one of {}", words.join(", "))));
        };
        visitor.visit_enum(IntoDeserializer::<BadDocument>::into_deserializer(word.as_str()))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, BadDocument> {
        visitor.visit_newtype_struct(self)
    }

    whole_numbers! { deserialize_i64 deserialize_i32 deserialize_u64 deserialize_u32 }

    forward_to_deserialize_any! {
        bool i8 i16 i128 u8 u16 u128 f32 f64 char str string bytes byte_buf unit unit_struct tuple tuple_struct
        identifier ignored_any
    }
}

struct MemberReader<'de> {
    members: serde_json::map::Iter<'de>,
    next: Option<(&'de str, &'de Value)>,
}

impl<'de> de::MapAccess<'de> for MemberReader<'de> {
    type Error = BadDocument;

    fn next_key_seed<K: de::DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, BadDocument> {
        let Some((name, value)) = self.members.next() else { return Ok(None) };
        self.next = Some((name, value));
        let name_of = de::value::BorrowedStrDeserializer::new(name.as_str());
        seed.deserialize(name_of).map(Some).map_err(|why: BadDocument| why.under(name))
    }

    fn next_value_seed<S: de::DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, BadDocument> {
        let (name, value) = self.next.take().ok_or_else(|| BadDocument::new("", "a value without a name"))?;
        seed.deserialize(ValueAt(value)).map_err(|why: BadDocument| why.under(name))
    }
}

struct Items<'de>(std::iter::Enumerate<std::slice::Iter<'de, Value>>);

impl<'de> de::SeqAccess<'de> for Items<'de> {
    type Error = BadDocument;

    fn next_element_seed<S: de::DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, BadDocument> {
        let Some((at, value)) = self.0.next() else { return Ok(None) };
        seed.deserialize(ValueAt(value)).map(Some).map_err(|why| why.under(&format!("[{at}]")))
    }
}

/// A hint for a value that other texts about MPLP use but its schemas do not.
fn hint_for_value(found: &str) -> Option<&'static str> {
    Some(match found {
        // M-20
        "pending_approval" => "a Plan with a pending Confirm is proposed",
        // M-18
        "override" => "it is no status: a decision in spite of a lock is sent with \"override\": true",
        // M-17
        "step" | "delta" => "it is approved as other, with its own id as target_id",
        // M-22
        "changes_requested" | "request_changes" => "asking for changes is rejected with a reason",
        "expired" | "timeout" => "a Confirm without an answer in time is cancelled",
        "canceled" => "it is spelled cancelled",
        _ => return None,
    })
}

/// A hint for a member that other texts about MPLP use but its schemas do not.
fn hint_for_member(found: &str) -> Option<&'static str> {
    Some(match found {
        // M-01
        "protocolVersion" => "write protocol_version, and schema_version beside it",
        "schemaVersion" => "write schema_version",
        "source" => "the producer is named in created_by",
        "lifecycle_phase" => "write lifecyclePhase",
        "truth_domain" => "write truthDomain",
        "last_confirm_ref" => "write lastConfirmRef",
        // M-19
        "governance" => "a Plan has none: the link to its Confirm is the Confirm's target_id",
        "actions" => "send {\"plan\": …, \"actions\": …}: the Plan's own schema is closed",
        _ => return None,
    })
}

fn with_hint(why: String, hint: Option<&str>) -> String {
    match hint {
        Some(hint) => format!("{why}; {hint}"),
        None => why,
    }
}
