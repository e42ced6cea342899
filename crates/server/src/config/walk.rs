//! Deserializes a value into a type, and reports the path of every error in the value.
//!
//! The names of known members come from the type itself (`deserialize_struct` receives them), so there is no second
//! list that could become outdated.

use super::{document::join, problem::nearest_hint};
use serde::{
    de::{DeserializeOwned, DeserializeSeed, IntoDeserializer as _, MapAccess, SeqAccess, Visitor},
    forward_to_deserialize_any,
};
use serde_json::{Map, Value};
use std::cell::RefCell;

/// The error for a member that the type does not have.
pub(super) const UNKNOWN: &str = "is not a known key";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ConfigFault {
    pub(super) path: String,
    pub(super) wrong: String,
    pub(super) hint: String,
}

/// Every unknown member, and the first member of the wrong type.
pub(super) fn read<T: DeserializeOwned>(value: &Value, path: &str) -> Result<T, Vec<ConfigFault>> {
    let unknown = RefCell::new(Vec::new());
    let result = T::deserialize(ConfigValue { value, path: path.to_owned(), unknown: &unknown });
    let mut faults = unknown.into_inner();
    match result {
        Ok(read) if faults.is_empty() => return Ok(read),
        Ok(_) => {}
        Err(misfit) => faults.push(misfit.into_fault(path)),
    }
    Err(faults)
}

/// A value and its path.
struct ConfigValue<'a> {
    value: &'a Value,
    path: String,
    unknown: &'a RefCell<Vec<ConfigFault>>,
}

impl ConfigValue<'_> {
    /// A type that deserializes text and then validates it fails only after reading: such an error gets its path here.
    fn fill<'de, S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Misfit> {
        let path = self.path.clone();
        seed.deserialize(self).map_err(|misfit| misfit.at(&path))
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{what}")]
struct Misfit {
    path: Option<String>,
    what: String,
}

impl Misfit {
    /// The innermost path is kept; outer levels do not overwrite it.
    fn at(mut self, path: &str) -> Self {
        self.path.get_or_insert_with(|| path.to_owned());
        self
    }

    fn into_fault(self, path: &str) -> ConfigFault {
        let path = self.path.unwrap_or_else(|| path.to_owned());
        ConfigFault { path, wrong: self.what, hint: "compare it with the description of a project document".into() }
    }
}

impl serde::de::Error for Misfit {
    fn custom<T: std::fmt::Display>(what: T) -> Self {
        Self { path: None, what: what.to_string() }
    }

    fn missing_field(name: &'static str) -> Self {
        Self { path: None, what: format!("lacks `{name}`") }
    }
}

impl<'de> serde::Deserializer<'de> for ConfigValue<'_> {
    type Error = Misfit;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(flag) => visitor.visit_bool(*flag),
            Value::Number(number) => number.deserialize_any(visitor).map_err(serde::de::Error::custom),
            Value::String(text) => visitor.visit_str(text),
            Value::Array(items) => visitor.visit_seq(Items { items: items.iter().enumerate(), around: &self }),
            Value::Object(members) => visitor.visit_map(TableMembers::of(members, &self)),
        }
        .map_err(|misfit: Misfit| misfit.at(&self.path))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        if self.value.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        let read: Result<_, serde_json::Error> = self.value.clone().deserialize_enum(name, variants, visitor);
        read.map_err(|e| Misfit { path: Some(self.path), what: e.to_string() })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        let Value::Object(members) = self.value else { return self.deserialize_any(visitor) };
        let unknown = members.keys().filter(|name| !fields.contains(&name.as_str()));
        self.unknown.borrow_mut().extend(unknown.map(|name| ConfigFault {
            path: join(&self.path, name),
            wrong: UNKNOWN.into(),
            hint: nearest_hint(name, fields.iter().copied()),
        }));
        let mut known = TableMembers::of(members, &self);
        known.only = Some(fields);
        visitor.visit_map(known).map_err(|misfit| misfit.at(&self.path))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

struct Items<'a, 'b> {
    items: std::iter::Enumerate<std::slice::Iter<'a, Value>>,
    around: &'b ConfigValue<'a>,
}

impl<'de> SeqAccess<'de> for Items<'_, '_> {
    type Error = Misfit;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Misfit> {
        let Some((index, value)) = self.items.next() else { return Ok(None) };
        let path = format!("{}[{index}]", self.around.path);
        ConfigValue { value, path, unknown: self.around.unknown }.fill(seed).map(Some)
    }
}

struct TableMembers<'a, 'b> {
    members: serde_json::map::Iter<'a>,
    /// The members that the type knows; others were recorded and are skipped.
    only: Option<&'static [&'static str]>,
    next: Option<ConfigValue<'a>>,
    around: &'b ConfigValue<'a>,
}

impl<'a, 'b> TableMembers<'a, 'b> {
    fn of(members: &'a Map<String, Value>, around: &'b ConfigValue<'a>) -> Self {
        Self { members: members.iter(), only: None, next: None, around }
    }
}

impl<'de> MapAccess<'de> for TableMembers<'_, '_> {
    type Error = Misfit;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Misfit> {
        let only = self.only;
        let known = |name: &str| only.is_none_or(|fields| fields.contains(&name));
        let Some((name, value)) = self.members.find(|(name, _)| known(name)) else { return Ok(None) };
        let path = join(&self.around.path, name);
        let key = seed.deserialize(name.as_str().into_deserializer()).map_err(|misfit: Misfit| misfit.at(&path))?;
        self.next = Some(ConfigValue { value, path, unknown: self.around.unknown });
        Ok(Some(key))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Misfit> {
        let missing = || Misfit { path: None, what: "a value was asked for before its key".into() };
        self.next.take().ok_or_else(missing)?.fill(seed)
    }
}
