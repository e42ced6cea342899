//! Filters of a list: one comparison of one attribute (RFC 7644 3.4.2.2).

use super::ScimRefusal;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserFilter {
    Id(String),
    UserName(String),
    ExternalId(String),
}

/// `userName eq "…"`, and the same for `externalId` and `id`.
pub fn parse(text: &str) -> Result<UserFilter, ScimRefusal> {
    let why =
        || ScimRefusal::InvalidFilter("only userName, externalId or id is filtered by, as in userName eq \"a\"".into());
    let Comparison { attribute, value } = comparison(text).ok_or_else(why)?;
    let core = super::patch::without_core_schema(&attribute);
    match core.to_ascii_lowercase().as_str() {
        "id" => Ok(UserFilter::Id(value)),
        "username" => Ok(UserFilter::UserName(value)),
        "externalid" => Ok(UserFilter::ExternalId(value)),
        _ => Err(why()),
    }
}

/// `attribute eq value`, where the value is a JSON string, boolean or number.
pub(super) struct Comparison {
    pub(super) attribute: String,
    pub(super) value: String,
}

pub(super) fn comparison(text: &str) -> Option<Comparison> {
    let (attribute, rest) = text.trim().split_once(char::is_whitespace)?;
    let (operator, value) = rest.trim_start().split_once(char::is_whitespace)?;
    let value: serde_json::Value = serde_json::from_str(value.trim()).ok()?;
    let value = match value {
        serde_json::Value::String(text) => text,
        other @ (serde_json::Value::Bool(_) | serde_json::Value::Number(_)) => other.to_string(),
        _ => return None,
    };
    operator.eq_ignore_ascii_case("eq").then(|| Comparison { attribute: attribute.to_owned(), value })
}
