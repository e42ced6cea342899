//! The JSON Schemas of tools, made from the same documents as the OpenAPI description.

use serde_json::{Map, Value, json};
use utoipa::{
    ToSchema,
    openapi::{RefOr, Schema},
};

const IN_OPENAPI: &str = "#/components/schemas/";
const HERE: &str = "#/$defs/";

/// What a tool takes: one closed object.
pub(super) fn of_arguments<T: ToSchema>() -> Map<String, Value> {
    let mut whole = tidy(json!(T::schema()), Null::Dropped);
    define::<T>(&mut whole, Null::Dropped);
    object(whole)
}

/// What a tool gives. Some clients hold a refusal to this as well, so it says what a refusal looks like.
pub(super) fn of_answer<T: ToSchema>() -> Map<String, Value> {
    let mut whole = json!({ "type": "object", "anyOf": [tidy(json!(T::schema()), Null::Kept), refusal()] });
    define::<T>(&mut whole, Null::Kept);
    object(whole)
}

/// The envelope (AAP 16.1). Its codes are not listed: a reader of tools pays for every word.
fn refusal() -> Value {
    let text = |about: &str| json!({ "type": "string", "description": about });
    json!({
        "type": "object",
        "description": "Why it was refused. Nothing was done.",
        "required": ["error", "error_description", "hint"],
        "properties": {
            "error": text("A code for programs."),
            "error_description": text("What was wrong."),
            "hint": text("What to do next."),
            "retry_after_seconds": { "type": "integer" },
        },
    })
}

/// Everything that a document refers to.
fn define<T: ToSchema>(whole: &mut Value, null: Null) {
    let mut found: Vec<(String, RefOr<Schema>)> = Vec::new();
    T::schemas(&mut found);
    found.iter().for_each(|(name, schema)| insert(whole, name, schema, null));
}

fn insert(whole: &mut Value, name: &str, schema: &RefOr<Schema>, null: Null) {
    let Some(whole) = whole.as_object_mut() else { return };
    let definitions = whole.entry("$defs").or_insert_with(|| json!({}));
    if let Some(definitions) = definitions.as_object_mut() {
        definitions.insert(name.to_owned(), tidy(json!(schema), null));
    }
}

/// Whether null may stand for what is absent: the reader of arguments takes none, and some answers have one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Null {
    Dropped,
    Kept,
}

/// References lead to `$defs`; formats that only OpenAPI knows are left out.
fn tidy(schema: Value, null: Null) -> Value {
    match schema {
        Value::Object(members) => Value::Object(tidy_object(members, null)),
        Value::Array(items) => Value::Array(items.into_iter().map(|item| tidy(item, null)).collect()),
        other => other,
    }
}

fn tidy_object(members: Map<String, Value>, null: Null) -> Map<String, Value> {
    if let Some(only) = beside_null(&members).filter(|_| null == Null::Dropped) {
        return object(tidy(only, null));
    }
    members.into_iter().filter_map(|(name, value)| tidy_member(name, value, null)).collect()
}

fn tidy_member(name: String, value: Value, null: Null) -> Option<(String, Value)> {
    let tidied = match (name.as_str(), value) {
        ("$ref", Value::String(to)) => json!(to.replace(IN_OPENAPI, HERE)),
        ("format", Value::String(format)) if format.starts_with("int") => return None,
        ("default", Value::Null) => return None,
        ("type", Value::Array(kinds)) if null == Null::Dropped => match kinds.as_slice() {
            [only, null] if null == "null" => only.clone(),
            _ => Value::Array(kinds),
        },
        (_, value) => tidy(value, null),
    };
    Some((name, tidied))
}

/// The one alternative to null, where there is one.
fn beside_null(members: &Map<String, Value>) -> Option<Value> {
    match members.get("oneOf")?.as_array()?.as_slice() {
        [only, null] | [null, only] if *null == json!({ "type": "null" }) => Some(only.clone()),
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
