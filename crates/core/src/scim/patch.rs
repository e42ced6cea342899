//! PATCH (RFC 7644 3.5.2) on the canonical attributes of a user, in the shapes that Okta and Entra send.

use super::{
    ScimRefusal,
    attributes::{AttributeKind, canonical, element, is_ignored, kept, sub_value},
    filter::{Comparison, comparison},
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

const CORE_SCHEMA: &str = "urn:ietf:params:scim:schemas:core:2.0:User:";
/// The most operations of one request.
const MOST: usize = 100;

/// The body of a PATCH. Other members are ignored; names compare regardless of case only inside operations.
#[derive(Clone, Debug, Deserialize)]
pub struct PatchRequest {
    #[serde(rename = "Operations", alias = "operations")]
    pub operations: Vec<PatchOperation>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct PatchOperation {
    pub op: String,
    #[serde(default)]
    pub path: Option<String>,
    #[serde(default)]
    pub value: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Add,
    Replace,
    Remove,
}

/// `attribute`, `attribute.sub`, `attribute[filter]` or `attribute[filter].sub`.
struct PatchPath {
    name: &'static str,
    kind: AttributeKind,
    filter: Option<Comparison>,
    sub: Option<&'static str>,
}

/// The attributes after all operations, or none of them.
pub(super) fn apply(
    request: &PatchRequest,
    mut attributes: Map<String, Value>,
    default_roles: &[Value],
) -> Result<Map<String, Value>, ScimRefusal> {
    if request.operations.is_empty() || request.operations.len() > MOST {
        return Err(ScimRefusal::InvalidSyntax(format!("Operations must have 1 to {MOST} entries")));
    }
    for operation in &request.operations {
        let verb = verb(&operation.op)?;
        match (&operation.path, &operation.value) {
            (Some(path), value) => one(verb, path, value, &mut attributes, default_roles)?,
            (None, _) if verb == Verb::Remove => return Err(ScimRefusal::NoTarget),
            (None, Value::Object(members)) => {
                for (path, value) in members {
                    one(verb, path, value, &mut attributes, default_roles)?;
                }
            }
            (None, _) => return Err(ScimRefusal::InvalidValue("without a path, value must be an object".into())),
        }
    }
    Ok(attributes)
}

pub(super) fn without_core_schema(path: &str) -> &str {
    let prefix = path.get(..CORE_SCHEMA.len()).filter(|start| start.eq_ignore_ascii_case(CORE_SCHEMA));
    prefix.and_then(|_| path.get(CORE_SCHEMA.len()..)).unwrap_or(path)
}

/// Entra capitalises the names of operations.
fn verb(op: &str) -> Result<Verb, ScimRefusal> {
    match op.to_ascii_lowercase().as_str() {
        "add" => Ok(Verb::Add),
        "replace" => Ok(Verb::Replace),
        "remove" => Ok(Verb::Remove),
        _ => Err(ScimRefusal::InvalidSyntax("op must be add, replace or remove".into())),
    }
}

fn one(
    verb: Verb,
    path: &str,
    value: &Value,
    attributes: &mut Map<String, Value>,
    default_roles: &[Value],
) -> Result<(), ScimRefusal> {
    let Some(path) = PatchPath::parse(path)? else { return Ok(()) };
    // A null is an absent value (RFC 7643 2.5).
    let verb = if value.is_null() { Verb::Remove } else { verb };
    match path.kind {
        AttributeKind::Text | AttributeKind::Boolean => single(verb, &path, value, attributes),
        AttributeKind::Complex(subs) => complex(verb, &path, subs, value, attributes),
        AttributeKind::MultiValued(subs) => {
            let current = attributes.remove(path.name).and_then(|values| values.as_array().cloned());
            // A role chosen by a filter replaces the one chosen before; the policy's roles stay.
            let current = match path.name == "roles" && path.filter.is_some() && verb != Verb::Remove {
                true => default_roles.to_vec(),
                false => current.unwrap_or_default(),
            };
            let values = plural(verb, &path, subs, value, current)?;
            attributes.insert(path.name.to_owned(), canonical(path.name, path.kind, &Value::Array(values))?);
            Ok(())
        }
    }
}

fn single(verb: Verb, path: &PatchPath, value: &Value, attributes: &mut Map<String, Value>) -> Result<(), ScimRefusal> {
    if verb != Verb::Remove {
        attributes.insert(path.name.to_owned(), canonical(path.name, path.kind, value)?);
        return Ok(());
    }
    if path.name != "displayName" {
        return Err(ScimRefusal::Mutability(format!("{} cannot be removed", path.name)));
    }
    attributes.remove(path.name);
    Ok(())
}

fn complex(
    verb: Verb,
    path: &PatchPath,
    subs: &'static [&'static str],
    value: &Value,
    attributes: &mut Map<String, Value>,
) -> Result<(), ScimRefusal> {
    let mut current = attributes.remove(path.name).and_then(|value| value.as_object().cloned()).unwrap_or_default();
    match (verb, path.sub) {
        (Verb::Remove, None) => return Ok(()),
        (Verb::Remove, Some(sub)) => drop(current.remove(sub)),
        (_, Some(sub)) => drop(current.insert(sub.to_owned(), sub_value(path.name, sub, value)?)),
        (_, None) => merge(&mut current, element(path.name, subs, value)?),
    }
    attributes.insert(path.name.to_owned(), Value::Object(current));
    Ok(())
}

fn plural(
    verb: Verb,
    path: &PatchPath,
    subs: &'static [&'static str],
    value: &Value,
    mut current: Vec<Value>,
) -> Result<Vec<Value>, ScimRefusal> {
    if path.filter.is_none() && path.sub.is_none() {
        let given = match verb {
            Verb::Remove => Vec::new(),
            _ => canonical(path.name, path.kind, value)?.as_array().cloned().unwrap_or_default(),
        };
        let kept = if verb == Verb::Add { current } else { Vec::new() };
        let new: Vec<Value> = given.into_iter().filter(|value| !kept.contains(value)).collect();
        return Ok(kept.into_iter().chain(new).collect());
    }
    if verb == Verb::Remove && path.sub.is_none() {
        current.retain(|element| !path.selects(element));
        return Ok(current);
    }
    if verb != Verb::Remove && !current.iter().any(|element| path.selects(element)) {
        current.push(path.new_element()?);
    }
    for element_at in current.iter_mut().filter(|element| path.selects(element)) {
        let Some(members) = element_at.as_object_mut() else { continue };
        match (verb, path.sub) {
            (Verb::Remove, Some(sub)) => drop(members.remove(sub)),
            (_, Some(sub)) => drop(members.insert(sub.to_owned(), sub_value(path.name, sub, value)?)),
            (_, None) => merge(members, element(path.name, subs, value)?),
        }
    }
    Ok(current)
}

fn merge(current: &mut Map<String, Value>, given: Value) {
    if let Value::Object(given) = given {
        current.extend(given);
    }
}

impl PatchPath {
    /// None for an attribute that is not kept; a path that cannot be read is refused, or a deactivation could be lost.
    fn parse(text: &str) -> Result<Option<Self>, ScimRefusal> {
        let bad = || ScimRefusal::InvalidPath(format!("the path {text:?} names no attribute of a user"));
        let path = without_core_schema(text.trim());
        let is_extension = path.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("urn:"));
        if is_extension {
            return Ok(None);
        }
        let (name, filter, rest) = match path.split_once('[') {
            Some((name, rest)) => {
                let (filter, rest) = rest.rsplit_once(']').ok_or_else(bad)?;
                (name, Some(comparison(filter).ok_or_else(bad)?), rest)
            }
            None => match path.find('.') {
                Some(dot) => (path.get(..dot).unwrap_or_default(), None, path.get(dot..).unwrap_or_default()),
                None => (path, None, ""),
            },
        };
        if is_ignored(name) {
            return Ok(None);
        }
        let (name, kind) = kept(name).ok_or_else(bad)?;
        let sub = match rest.strip_prefix('.') {
            Some(sub) => Some(kind.sub(sub)),
            None if rest.is_empty() => None,
            None => return Err(bad()),
        };
        match (kind, &filter, sub) {
            (AttributeKind::Text | AttributeKind::Boolean, None, None)
            | (AttributeKind::Complex(_), None, None | Some(Some(_)))
            | (AttributeKind::MultiValued(_), _, None | Some(Some(_))) => {
                Ok(Some(Self { name, kind, filter, sub: sub.flatten() }))
            }
            // Further parts of a name, such as honorificPrefix, are not kept.
            (AttributeKind::Complex(_), None, Some(None)) => Ok(None),
            _ => Err(bad()),
        }
    }

    fn selects(&self, element: &Value) -> bool {
        let Some(filter) = &self.filter else { return true };
        let Some(sub) = self.kind.sub(&filter.attribute) else { return false };
        match element.get(sub) {
            Some(Value::String(text)) => text.eq_ignore_ascii_case(&filter.value),
            Some(other) => other.to_string().eq_ignore_ascii_case(&filter.value),
            None => false,
        }
    }

    /// An element that the path selects.
    fn new_element(&self) -> Result<Value, ScimRefusal> {
        let Some(filter) = &self.filter else { return Ok(json!({})) };
        let unknown = || ScimRefusal::InvalidPath(format!("{} has no {:?}", self.name, filter.attribute));
        let sub = self.kind.sub(&filter.attribute).ok_or_else(unknown)?;
        let mut element = Map::new();
        element.insert(sub.to_owned(), sub_value(self.name, sub, &Value::from(filter.value.as_str()))?);
        Ok(Value::Object(element))
    }
}

impl AttributeKind {
    fn sub(self, name: &str) -> Option<&'static str> {
        match self {
            Self::Complex(subs) | Self::MultiValued(subs) => {
                subs.iter().copied().find(|sub| sub.eq_ignore_ascii_case(name))
            }
            Self::Text | Self::Boolean => None,
        }
    }
}
