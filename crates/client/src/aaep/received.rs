//! Parses messages of a stream leniently, so that no person misses a question.
//!
//! A foreign producer may omit members with a default and add members that this version does not know (AAEP 9.3, 12).
//! An event of an unknown type still has a summary to read out.

use super::announcement::SaidBy;
use countersign_protocol::{
    aaep::{
        envelope::{Urgency, VERSION},
        event::{Event, Payload, Summaries},
        extension,
    },
    question::QuestionFacts,
    time::UnixMillis,
};
use serde::{Deserialize as _, de::DeserializeOwned};
use serde_json::{Map, Value, json};

/// One message of a producer.
#[derive(Clone, Debug, PartialEq)]
pub enum Received {
    Event(Box<Event>),
    /// Of a type outside the core, or of a later version.
    Other(Other),
    /// The producer closes the subscription (AAEP 5.8).
    Closed {
        reason_code: String,
        reason_message: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    pub event_id: String,
    pub session_id: String,
    pub agent_id: String,
    pub type_name: String,
    pub urgency: Urgency,
    pub summary: Option<String>,
}

/// The message is no event. Its content is not repeated: it may hold a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the producer sent an invalid event")]
pub struct NotAnEvent;

impl Received {
    pub fn read(text: &str) -> Result<Self, NotAnEvent> {
        let value: Value = serde_json::from_str(text).map_err(|_| NotAnEvent)?;
        let Value::Object(mut message) = value else { return Err(NotAnEvent) };
        if message.get("type") == Some(&json!("subscription.close")) {
            let member = |name: &str| shown(message.get(name).and_then(Value::as_str).unwrap_or_default());
            return Ok(Self::Closed { reason_code: member("reason_code"), reason_message: member("reason_message") });
        }
        complete(&mut message);
        let whole = Value::Object(message);
        match serde_json::from_value::<Event>(whole.clone()) {
            Ok(event) => Ok(Self::Event(Box::new(event))),
            Err(_) => other(&whole).map(Self::Other),
        }
    }

    pub fn event_id(&self) -> Option<&str> {
        match self {
            Self::Event(event) => Some(&event.envelope.event_id),
            Self::Other(other) => Some(&other.event_id),
            Self::Closed { .. } => None,
        }
    }
}

/// Members of our extension about a decision.
pub(super) struct Ours<'e>(Option<&'e Map<String, Value>>);

impl<'e> Ours<'e> {
    pub(super) fn of(event: &'e Event) -> Self {
        Self(event.envelope.extensions.get(extension::PREFIX).and_then(Value::as_object))
    }

    pub(super) fn text(&self, name: &str) -> Option<&'e str> {
        self.0?.get(name)?.as_str()
    }

    /// A typed member; none if it has another shape.
    pub(super) fn read<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        T::deserialize(self.0?.get(name)?).ok()
    }

    pub(super) fn facts(&self) -> QuestionFacts {
        self.0.and_then(|members| QuestionFacts::deserialize(members).ok()).unwrap_or_default()
    }

    /// Only the service marks its own text.
    pub(super) fn author(&self) -> SaidBy {
        if self.text(extension::SAID_BY) == Some(extension::HUB) { SaidBy::Hub } else { SaidBy::Agent }
    }

    pub(super) fn moment(&self, name: &str) -> Option<UnixMillis> {
        self.text(name).and_then(UnixMillis::parse_rfc3339)
    }
}

/// The urgency of an event, even if its producer omitted it (E-06).
pub(super) fn urgency(event: &Event) -> Urgency {
    event.envelope.urgency.max(match event.payload.urgency() {
        Urgency::Critical => Urgency::Critical,
        _ => Urgency::Background,
    })
}

/// Its message at normal verbosity.
pub(super) fn summary(payload: &Payload) -> Option<String> {
    let mut payload = payload.clone();
    let Summaries { terse, normal, detailed } = payload.summaries_mut()?;
    normal.take().or(terse.take()).or(detailed.take()).map(|text| shown(&text))
}

/// Another party's text made safe for display: on one line, without control, bidirectional or invisible characters
/// and limited in length.
pub(super) fn shown(text: &str) -> String {
    visible(text.trim())
}

pub(super) fn visible(text: &str) -> String {
    let begin: String =
        text.chars().take(MOST).map(|c| if matches!(c, '\n' | '\r' | '\t') { ' ' } else { c }).collect();
    let left = text.chars().count().saturating_sub(MOST);
    let note = if left > 0 { format!("… {left} more characters") } else { String::new() };
    countersign_protocol::visible::visible(&begin) + &note
}

/// The longest text that a producer may send (AAEP 3.7).
const MOST: usize = 16_384;

/// Fills in defaults, and removes members that closed objects do not allow.
fn complete(message: &mut Map<String, Value>) {
    if let Some(Value::String(name)) = message.get_mut("type")
        && let Some(short) = name.strip_prefix("https://aaep-protocol.org/types/")
    {
        *name = format!("aaep:{short}");
    }
    message.entry("aaep_version").or_insert_with(|| VERSION.into());
    let urgency = message.entry("urgency").or_insert_with(|| "normal".into());
    if !["background", "normal", "critical"].iter().any(|known| urgency == known) {
        *urgency = "normal".into();
    }
    retain_members(message.entry("localization_hints").or_insert_with(|| json!({})), HINTS);
    message.get_mut("producer").into_iter().for_each(|producer| retain_members(producer, PRODUCER));
    message.get_mut("timeout_seconds").into_iter().for_each(whole_number);
    if let Some(Value::Array(allowed)) = message.get_mut("allowed_replies") {
        allowed.retain(|reply| reply == "accept" || reply == "reject");
    }
    if let Some(Value::Array(choices)) = message.get_mut("choices") {
        choices.iter_mut().for_each(|choice| retain_members(choice, &["value", "label"]));
    }
}

const HINTS: &[&str] =
    &["primary_language", "text_direction", "available_languages", "fallback_chain", "script", "calendar"];
const PRODUCER: &[&str] = &["agent_id", "agent_version", "agent_name", "model", "manifest_uri"];

fn retain_members(object: &mut Value, known: &[&str]) {
    if let Value::Object(members) = object {
        members.retain(|name, _| known.contains(&name.as_str()));
    }
}

/// `60.0` is an integer in JSON Schema.
fn whole_number(value: &mut Value) {
    let whole = value.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 1e9);
    if let Some(number) = whole.filter(|_| !value.is_i64()) {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and small")]
        let number = number as i64;
        *value = number.into();
    }
}

fn other(event: &Value) -> Result<Other, NotAnEvent> {
    let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str);
    let urgency = event.get("urgency").and_then(|urgency| serde_json::from_value(urgency.clone()).ok());
    Ok(Other {
        event_id: text("/event_id").ok_or(NotAnEvent)?.to_owned(),
        session_id: text("/session_id").ok_or(NotAnEvent)?.to_owned(),
        agent_id: text("/producer/agent_id").unwrap_or_default().to_owned(),
        type_name: shown(text("/type").ok_or(NotAnEvent)?),
        urgency: urgency.unwrap_or_default(),
        summary: text("/summary_normal").or_else(|| text("/summary_terse")).map(shown),
    })
}

#[cfg(test)]
mod tests;
