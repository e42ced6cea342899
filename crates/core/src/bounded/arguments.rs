//! The arguments of a call in a normal form.

use super::resolve::resolve;
use crate::held::{BadJson, Fields, HttpRequest, JsonMember, plain_type, read_json};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// The arguments of a call: an object with members sorted by name and numbers as written.
///
/// Stored as JSON inside a string, because numbers of a JSON document would pass through doubles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments(JsonMember);

impl Arguments {
    /// The arguments of a request at the gateway: `{path, query, headers, content_type, body}`.
    pub fn of_request(request: &HttpRequest, fields: &Fields) -> Self {
        Self::of_member(fields.tree(request))
    }

    /// The arguments of a tool call.
    pub fn of_tool(arguments: &Map<String, Value>) -> Self {
        Self::of_member(JsonMember::Object(members(arguments)))
    }

    pub(super) fn of_member(member: JsonMember) -> Self {
        Self(ordered(member))
    }

    /// Reads strictly: an ambiguous text is an error.
    pub fn read(text: &str) -> Result<Self, BadJson> {
        read_json(text.as_bytes()).map(Self::of_member)
    }

    pub fn compact(&self) -> String {
        self.0.compact()
    }

    /// The argument with this dotted name; none if it is missing or ambiguous.
    pub fn get(&self, name: &str) -> Option<&JsonMember> {
        let mut found = resolve(&self.0, name).into_iter().map(|place| place.member);
        let member = found.next();
        if found.next().is_none() { member } else { None }
    }

    /// The members that templates name, for a call at the gateway.
    pub fn fields(&self) -> Fields {
        Fields::of_tree(&self.0)
    }

    pub fn root(&self) -> &JsonMember {
        &self.0
    }
}

/// The normal form of a content type.
pub(super) fn content_type(text: &str) -> String {
    plain_type(text)
}

pub(super) fn member(value: &Value) -> JsonMember {
    match value {
        Value::Null => JsonMember::Null,
        Value::Bool(value) => JsonMember::Bool(*value),
        Value::Number(number) => JsonMember::Number(number.to_string()),
        Value::String(text) => JsonMember::Text(text.clone()),
        Value::Array(items) => JsonMember::List(items.iter().map(member).collect()),
        Value::Object(object) => JsonMember::Object(members(object)),
    }
}

fn members(object: &Map<String, Value>) -> Vec<(String, JsonMember)> {
    object.iter().map(|(name, value)| (name.clone(), member(value))).collect()
}

/// The order of members is insignificant, the order of lists is not.
fn ordered(member: JsonMember) -> JsonMember {
    match member {
        JsonMember::List(items) => JsonMember::List(items.into_iter().map(ordered).collect()),
        JsonMember::Object(members) => {
            let mut members: Vec<_> = members.into_iter().map(|(name, value)| (name, ordered(value))).collect();
            members.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
            JsonMember::Object(members)
        }
        scalar => scalar,
    }
}

impl Serialize for Arguments {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.compact())
    }
}

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::read(&String::deserialize(from)?).map_err(serde::de::Error::custom)
    }
}
