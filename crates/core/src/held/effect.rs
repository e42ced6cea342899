//! Effect keys: an effect runs once, across requests, sessions and approvals.

use super::{
    BadTemplate, Fields, UnreadableRequest,
    json::JsonMember,
    template::{Name, Template, TemplatePart},
};
use countersign_protocol::{hash::Digest, project::Route};

/// Keys are sent in a header.
const MAX_KEY: usize = 512;
const TAG: &[u8] = b"countersign:effect:1\0";

/// One logical effect: two requests with the same effect never both run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// Sent to the upstream for recognising repeats.
    pub key: String,
    pub digest: Digest,
}

/// The effect of a request by this route, if it names one.
pub fn effect(route: &Route, fields: &Fields) -> Result<Option<Effect>, UnreadableRequest> {
    let Some(text) = &route.effect else { return Ok(None) };
    let key = key(&key_template(text)?, fields)?;
    Ok(Some(Effect { digest: Digest::of_parts(&[TAG, key.as_bytes()]), key }))
}

/// The resource of a call, for boundaries (C-49). Its values are escaped like those of an effect, so that none can run
/// into the text of the template.
pub fn resource(route: &Route, fields: &Fields) -> Result<Option<String>, UnreadableRequest> {
    let Some(text) = route.resource_template() else { return Ok(None) };
    key(&key_template(text)?, fields).map(Some)
}

/// The same from path and query alone, before the rest of the request is read.
pub fn resource_of(route: &Route, path: &str, query: Option<&str>) -> Result<Option<String>, UnreadableRequest> {
    if route.resource_template().is_none() {
        Ok(None)
    } else {
        resource(route, &Fields::of_target(route, path, query)?)
    }
}

/// Parses a template with distinct keys for distinct values.
pub fn key_template(text: &str) -> Result<Template, BadTemplate> {
    let template = Template::parse(text)?;
    let literal = |part: &TemplatePart| match part {
        TemplatePart::Text(text) => text.bytes().all(|b| b.is_ascii_graphic() && b != b'%'),
        TemplatePart::Name(_) => true,
    };
    if !template.parts.iter().all(literal) || template.names().next().is_none() {
        return Err(BadTemplate::NotAKey);
    }
    if separates(&template.parts) { Ok(template) } else { Err(BadTemplate::Joined) }
}

/// Whether a byte that values never contain separates any two names: `{a}-{b}` would confuse 1-2 and 3 with 1 and 2-3.
fn separates(parts: &[TemplatePart]) -> bool {
    let names = parts.iter().filter(|part| matches!(part, TemplatePart::Name(_))).count();
    let begins = parts.iter().position(|part| matches!(part, TemplatePart::Name(_))).unwrap_or(0);
    let parting = |part: &&TemplatePart| matches!(part, TemplatePart::Text(text) if text.bytes().any(|b| !is_kept(b)));
    // Texts are never adjacent, so each one between the first and the last name separates two names.
    let last = parts.iter().rposition(|part| matches!(part, TemplatePart::Name(_))).unwrap_or(0);
    parts.get(begins..last).unwrap_or_default().iter().filter(parting).count() + 1 >= names
}

fn key(template: &Template, fields: &Fields) -> Result<String, UnreadableRequest> {
    let part = |part: &TemplatePart| match part {
        TemplatePart::Text(text) => Ok(text.clone()),
        TemplatePart::Name(name) => value(name, fields).map(|value| escaped(&value)),
    };
    let key: String = template.parts.iter().map(part).collect::<Result<_, _>>()?;
    if key.len() > MAX_KEY { Err(UnreadableRequest::KeyTooLong) } else { Ok(key) }
}

/// A value with one spelling. 100, 100.0 and 1e2 are the same number to the service, so only the first is accepted.
pub(super) fn value(name: &Name, fields: &Fields) -> Result<String, UnreadableRequest> {
    one_spelling(name.value(fields)?).ok_or_else(|| UnreadableRequest::NotAKey(name.to_string()))
}

pub(super) fn one_spelling(member: JsonMember) -> Option<String> {
    let text = match member {
        JsonMember::Text(text) => Some(text),
        JsonMember::Number(digits) => Some(digits).filter(|digits| digits.bytes().all(|b| b.is_ascii_digit())),
        _ => None,
    };
    let sound = |text: &String| !text.is_empty() && text.trim() == text && !text.chars().any(char::is_control);
    text.filter(sound)
}

/// Percent-encodes every byte with a special meaning.
pub(crate) fn escaped(value: &str) -> String {
    let byte = |b: u8| if is_kept(b) { char::from(b).to_string() } else { format!("%{b:02X}") };
    value.bytes().map(byte).collect()
}

pub(crate) fn is_kept(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}
