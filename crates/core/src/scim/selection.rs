//! The attributes of a response that its sender asks for (RFC 7644 3.9): `attributes` or `excludedAttributes`.

use super::{ScimRefusal, patch::without_core_schema};
use serde_json::{Map, Value};

/// Returned always (RFC 7643 3.1).
const ALWAYS: [&str; 2] = ["schemas", "id"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    All,
    Only(Vec<AttributeName>),
    Without(Vec<AttributeName>),
}

/// An attribute, or one of its sub-attributes. Names compare regardless of case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeName {
    name: String,
    sub: Option<String>,
}

impl Selection {
    /// From the two parameters, each a list with commas. They exclude each other.
    pub fn parse(attributes: Option<&str>, excluded: Option<&str>) -> Result<Self, ScimRefusal> {
        match (attributes, excluded) {
            (None, None) => Ok(Self::All),
            (Some(wanted), None) => Ok(Self::Only(names(wanted))),
            (None, Some(unwanted)) => Ok(Self::Without(names(unwanted))),
            (Some(_), Some(_)) => {
                Err(ScimRefusal::InvalidValue("send attributes or excludedAttributes, not both".into()))
            }
        }
    }

    pub fn of(&self, resource: Value) -> Value {
        let Value::Object(members) = resource else { return resource };
        let selected = members.into_iter().filter_map(|(name, value)| Some((name.clone(), self.member(&name, value)?)));
        Value::Object(selected.collect())
    }

    fn member(&self, name: &str, value: Value) -> Option<Value> {
        let about = |all: &[AttributeName]| -> Vec<AttributeName> {
            all.iter().filter(|one| one.name.eq_ignore_ascii_case(name)).cloned().collect()
        };
        match self {
            _ if ALWAYS.contains(&name) => Some(value),
            Self::All => Some(value),
            Self::Only(all) => {
                let about = about(all);
                let whole = about.iter().any(|one| one.sub.is_none());
                match (about.is_empty(), whole) {
                    (true, _) => None,
                    (_, true) => Some(value),
                    (_, false) => Some(parts(value, &|sub| about.iter().any(|one| one.is_sub(sub)))),
                }
            }
            Self::Without(all) => {
                let about = about(all);
                match about.iter().any(|one| one.sub.is_none()) {
                    true => None,
                    false => Some(parts(value, &|sub| !about.iter().any(|one| one.is_sub(sub)))),
                }
            }
        }
    }
}

impl AttributeName {
    fn is_sub(&self, name: &str) -> bool {
        self.sub.as_ref().is_some_and(|sub| sub.eq_ignore_ascii_case(name))
    }
}

/// The sub-attributes that stay, of one value or of each.
fn parts(value: Value, stays: &dyn Fn(&str) -> bool) -> Value {
    match value {
        Value::Object(members) => {
            Value::Object(members.into_iter().filter(|(name, _)| stays(name)).collect::<Map<_, _>>())
        }
        Value::Array(values) => values.into_iter().map(|value| parts(value, stays)).collect(),
        simple => simple,
    }
}

fn names(list: &str) -> Vec<AttributeName> {
    let name = |text: &str| {
        let text = without_core_schema(text);
        let (name, sub) = text.split_once('.').map_or((text, None), |(name, sub)| (name, Some(sub.to_owned())));
        AttributeName { name: name.to_owned(), sub }
    };
    list.split(',').map(str::trim).filter(|text| !text.is_empty()).map(name).collect()
}
