//! The kept attributes of a user, under the names of RFC 7643. Names compare regardless of case; other attributes are
//! ignored, as RFC 7644 3.3 permits.

use super::ScimRefusal;
use serde_json::{Map, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AttributeKind {
    Text,
    Boolean,
    Complex(&'static [&'static str]),
    MultiValued(&'static [&'static str]),
}

const PLURAL: &[&str] = &["value", "display", "type", "primary"];
const KEPT: &[(&str, AttributeKind)] = &[
    ("userName", AttributeKind::Text),
    ("externalId", AttributeKind::Text),
    ("displayName", AttributeKind::Text),
    ("active", AttributeKind::Boolean),
    ("name", AttributeKind::Complex(&["formatted", "familyName", "givenName"])),
    ("emails", AttributeKind::MultiValued(PLURAL)),
    ("roles", AttributeKind::MultiValued(PLURAL)),
];

/// Attributes of the core schema that are not kept.
const IGNORED: &[&str] = &[
    "schemas",
    "id",
    "meta",
    "nickName",
    "profileUrl",
    "title",
    "userType",
    "preferredLanguage",
    "locale",
    "timezone",
    "password",
    "phoneNumbers",
    "ims",
    "photos",
    "addresses",
    "groups",
    "entitlements",
    "x509Certificates",
];

/// The most characters of a text.
const LONGEST: usize = 256;
/// The most values of an attribute.
const MOST_VALUES: usize = 20;

/// The attribute with this name, in its canonical spelling.
pub(super) fn kept(name: &str) -> Option<(&'static str, AttributeKind)> {
    KEPT.iter().copied().find(|(known, _)| known.eq_ignore_ascii_case(name))
}

pub(super) fn is_ignored(name: &str) -> bool {
    IGNORED.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// The kept attributes of a resource. A null is an absent attribute (RFC 7643 2.5).
pub(super) fn of_resource(resource: &Map<String, Value>) -> Result<Map<String, Value>, ScimRefusal> {
    let mut found = Map::new();
    for (name, value) in resource {
        let Some((name, kind)) = kept(name).filter(|_| !value.is_null()) else { continue };
        if found.insert(name.to_owned(), canonical(name, kind, value)?).is_some() {
            return Err(ScimRefusal::InvalidSyntax(format!("{name} occurs twice")));
        }
    }
    Ok(found)
}

/// A value in its canonical form.
pub(super) fn canonical(name: &str, kind: AttributeKind, value: &Value) -> Result<Value, ScimRefusal> {
    match kind {
        AttributeKind::Text => text(name, value).map(Value::from),
        AttributeKind::Boolean => boolean(name, value).map(Value::from),
        AttributeKind::Complex(subs) => complex(name, subs, value).map(Value::from),
        AttributeKind::MultiValued(subs) => {
            let single = std::slice::from_ref(value);
            let values = value.as_array().map_or(single, Vec::as_slice);
            if values.len() > MOST_VALUES {
                return Err(ScimRefusal::InvalidValue(format!("{name} has more than {MOST_VALUES} values")));
            }
            values.iter().map(|value| element(name, subs, value)).collect()
        }
    }
}

/// One value of a multi-valued attribute: an object, or only its `value`.
pub(super) fn element(name: &str, subs: &'static [&'static str], value: &Value) -> Result<Value, ScimRefusal> {
    match value {
        Value::String(_) => Ok(serde_json::json!({ "value": text(name, value)? })),
        _ => complex(name, subs, value).map(Value::from),
    }
}

/// A sub-attribute in its canonical form.
pub(super) fn sub_value(name: &str, sub: &str, value: &Value) -> Result<Value, ScimRefusal> {
    let at = format!("{name}.{sub}");
    if sub == "primary" { boolean(&at, value).map(Value::from) } else { text(&at, value).map(Value::from) }
}

fn complex(name: &str, subs: &'static [&'static str], value: &Value) -> Result<Map<String, Value>, ScimRefusal> {
    let members = value.as_object().ok_or_else(|| ScimRefusal::InvalidValue(format!("{name} must be an object")))?;
    let mut found = Map::new();
    for (member, value) in members {
        let known = subs.iter().find(|sub| sub.eq_ignore_ascii_case(member)).filter(|_| !value.is_null());
        if let Some(sub) = known {
            found.insert((*sub).to_owned(), sub_value(name, sub, value)?);
        }
    }
    Ok(found)
}

fn text(name: &str, value: &Value) -> Result<String, ScimRefusal> {
    let fits = |text: &&str| text.chars().count() <= LONGEST && !text.chars().any(char::is_control);
    let text = value.as_str().filter(fits);
    let why = || format!("{name} must be text of at most {LONGEST} characters");
    text.map(str::to_owned).ok_or_else(|| ScimRefusal::InvalidValue(why()))
}

/// Entra sends booleans as text.
fn boolean(name: &str, value: &Value) -> Result<bool, ScimRefusal> {
    match value {
        Value::Bool(set) => Ok(*set),
        Value::String(text) if text.eq_ignore_ascii_case("true") => Ok(true),
        Value::String(text) if text.eq_ignore_ascii_case("false") => Ok(false),
        _ => Err(ScimRefusal::InvalidValue(format!("{name} must be true or false"))),
    }
}
