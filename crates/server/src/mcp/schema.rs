//! The JSON Schemas of tools, made from the same documents as the OpenAPI description. A model reads all of them before
//! it does anything, so they are short: references are inlined, and an answer lists only those outermost members that
//! are always present or have more than one type. Plain text members are left to the OpenAPI description.

use crate::openapi::descriptions;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use utoipa::ToSchema;

const IN_OPENAPI: &str = "#/components/schemas/";
/// Documents that an agent seldom sends: described only as objects, and still parsed strictly.
const SELDOM_SENT: &[&str] = &["TraceBase", "BaseEvent", "Meta", "Bound", "Answerer"];
/// The envelope (AAP 16.1). Its codes are not listed: a model pays for every word.
const REFUSAL: [&str; 3] = ["error", "error_description", "hint"];

/// The arguments of a tool: one closed object.
pub(super) fn of_arguments<T: ToSchema>() -> Map<String, Value> {
    let mut whole = Definitions::of::<T>().inlined(&json!(T::schema()));
    descriptions::tidy(&mut whole);
    if let Some(members) = whole.as_object_mut() {
        members.remove("description");
        members.entry("properties").or_insert_with(|| json!({}));
    }
    object(whole)
}

/// The outermost members of a tool's answer, or of a refusal. Some clients validate refusals against this schema too.
pub(super) fn of_answer<T: ToSchema>() -> Map<String, Value> {
    let SchemaMembers { mut properties, required } = Definitions::of::<T>().members(&json!(T::schema()));
    let is_text = |schema: &Value| *schema == json!({ "type": "string" });
    properties.retain(|name, schema| !is_of_one_type(schema) || (required.contains(name) && !is_text(schema)));
    let answers = json!([{ "required": required }, { "required": REFUSAL }]);
    object(json!({ "type": "object", "properties": properties, "anyOf": answers }))
}

/// Every definition that a document refers to, by name.
struct Definitions(BTreeMap<String, Value>);

/// The outermost members of a document, including composed ones.
#[derive(Default)]
struct SchemaMembers {
    properties: BTreeMap<String, Value>,
    required: BTreeSet<String>,
}

impl Definitions {
    fn of<T: ToSchema>() -> Self {
        let mut found = Vec::new();
        T::schemas(&mut found);
        Self(found.into_iter().map(|(name, schema)| (name, json!(schema))).collect())
    }

    /// The name and the schema behind a reference.
    fn referred<'a>(&'a self, schema: &'a Value) -> Option<(&'a str, &'a Value)> {
        let name = schema.get("$ref")?.as_str()?.strip_prefix(IN_OPENAPI)?;
        Some((name, self.0.get(name)?))
    }

    fn resolved<'a>(&'a self, schema: &'a Value) -> &'a Value {
        self.referred(schema).map_or(schema, |(_, found)| self.resolved(found))
    }

    /// Replaces every reference with its definition, keeping the description at the reference. Null never stands for an
    /// absent member, because the parser of arguments rejects it.
    fn inlined(&self, schema: &Value) -> Value {
        let words = schema.get("description");
        if let Some((name, found)) = self.referred(schema) {
            let found = match SELDOM_SENT.contains(&name) {
                true => json!({ "type": "object" }),
                false => self.inlined(found),
            };
            return described(found, words);
        }
        match schema {
            Value::Object(members) => match beside_null(members) {
                Some(only) => described(self.inlined(only), words.or(only.get("description"))),
                None => members.iter().filter_map(|(name, value)| self.inlined_member(name, value)).collect(),
            },
            Value::Array(items) => items.iter().map(|item| self.inlined(item)).collect(),
            other => other.clone(),
        }
    }

    fn inlined_member(&self, name: &str, value: &Value) -> Option<(String, Value)> {
        let inlined = match (name, value) {
            // Formats and names that only OpenAPI knows.
            ("format", Value::String(format)) if format.starts_with("int") => return None,
            ("default", Value::Null) | ("propertyNames", _) => return None,
            ("type", Value::Array(kinds)) => match kinds.as_slice() {
                [only, null] if null == "null" => only.clone(),
                _ => value.clone(),
            },
            // Members of a document that happen to have such names.
            ("properties", Value::Object(members)) => {
                members.iter().map(|(name, schema)| (name.clone(), self.inlined(schema))).collect()
            }
            _ => self.inlined(value),
        };
        Some((name.to_owned(), inlined))
    }

    fn members(&self, schema: &Value) -> SchemaMembers {
        let schema = self.resolved(schema);
        let parts = |name: &str| schema.get(name).and_then(Value::as_array);
        if let Some(all) = parts("allOf") {
            return all.iter().map(|part| self.members(part)).fold(SchemaMembers::default(), SchemaMembers::and);
        }
        if let Some(any) = parts("oneOf").or_else(|| parts("anyOf")) {
            return any.iter().map(|part| self.members(part)).reduce(SchemaMembers::or).unwrap_or_default();
        }
        let required = parts("required").into_iter().flatten().filter_map(Value::as_str);
        let required: BTreeSet<String> = required.map(str::to_owned).collect();
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        SchemaMembers {
            properties: properties.map(|(name, schema)| (name.clone(), self.coarse(schema))).collect(),
            required,
        }
    }

    /// The type of a member, or its enum values. Its inner structure is left to the OpenAPI description.
    fn coarse(&self, schema: &Value) -> Value {
        let schema = self.resolved(schema);
        if let Some(only) = schema.as_object().and_then(beside_null) {
            return or_null(self.coarse(only));
        }
        match (schema.get("enum"), schema.get("type")) {
            (Some(words), _) => json!({ "enum": words }),
            (None, Some(kind)) => json!({ "type": kind }),
            // A composed object, or any value.
            (None, None) => match self.members(schema).properties.is_empty() {
                true => json!({}),
                false => json!({ "type": "object" }),
            },
        }
    }
}

impl SchemaMembers {
    /// A document composed of both (`allOf`).
    fn and(mut self, other: Self) -> Self {
        self.properties.extend(other.properties);
        self.required.extend(other.required);
        self
    }

    /// A document that is one or the other.
    fn or(mut self, other: Self) -> Self {
        for (name, schema) in other.properties {
            let either = self.properties.get(&name).map_or(schema.clone(), |known| either(known, &schema));
            self.properties.insert(name, either);
        }
        self.required.retain(|name| other.required.contains(name));
        self
    }
}

/// Whether the schema has a single type, or that type or null.
fn is_of_one_type(schema: &Value) -> bool {
    let types = schema.get("type").and_then(Value::as_array);
    schema.get("enum").is_some()
        || types.map_or(schema.get("type").is_some(), |types| types.iter().filter(|kind| *kind != "null").count() == 1)
}

/// A schema that fits both: the values of both enums, or any value.
fn either(left: &Value, right: &Value) -> Value {
    let words = |schema: &Value| schema.get("enum").and_then(Value::as_array).cloned();
    match (words(left), words(right)) {
        _ if left == right => left.clone(),
        (Some(known), Some(more)) => {
            let more: Vec<Value> = more.into_iter().filter(|word| !known.contains(word)).collect();
            let all = [known, more].concat();
            json!({ "enum": all })
        }
        _ => json!({}),
    }
}

fn or_null(mut schema: Value) -> Value {
    if let Some(Value::String(kind)) = schema.get("type") {
        return json!({ "type": [kind, "null"] });
    }
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        words.push(Value::Null);
    }
    schema
}

/// Replaces the definition's description with the one at the reference.
fn described(mut schema: Value, words: Option<&Value>) -> Value {
    if let Some(members) = schema.as_object_mut() {
        members.remove("description");
        members.extend(words.map(|words| ("description".to_owned(), words.clone())));
    }
    schema
}

/// The only alternative to null, if there is exactly one.
fn beside_null(members: &Map<String, Value>) -> Option<&Value> {
    match members.get("oneOf")?.as_array()?.as_slice() {
        [only, null] | [null, only] if *null == json!({ "type": "null" }) => Some(only),
        _ => None,
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests;
