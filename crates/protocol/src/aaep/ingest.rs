//! Events that an agent publishes to the hub, without the members that the hub stamps.

use super::{
    check::{Sound, judge},
    envelope::{LocalizationHints, Urgency, Verbosity},
    event::Payload,
    extension,
    shape::Stage,
};
use crate::{canonical, hash::Digest};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub use super::problem::MemberProblem;

/// The agent's part of an event. Ids, times, the producer and the reply token are the hub's: values sent for them were
/// checked for shape and dropped. The reply token of a question is empty here.
#[derive(Clone, Debug, PartialEq)]
pub struct IngestedEvent {
    pub payload: Payload,
    pub verbosity: Option<Verbosity>,
    pub urgency: Option<Urgency>,
    pub localization_hints: Option<LocalizationHints>,
    pub correlation_id: Option<String>,
    pub extensions: Map<String, Value>,
    /// As sent; none means the core context.
    pub context: Option<Value>,
    pub sent: Option<SentEventId>,
}

/// The agent's own id of an event, which identifies a repetition (AAEP 3.2.3), and a digest of its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentEventId {
    pub event_id: String,
    pub content: Digest,
}

/// Members stamped by the hub; they may differ in a repetition.
const STAMPED: [&str; 7] =
    ["event_id", "session_id", "timestamp", "producer", "sequence_number", "aaep_version", "reply_token"];

/// Reads an event by every rule that does not depend on its session, and reports all problems at once.
pub fn published(value: &Value) -> Result<IngestedEvent, Vec<MemberProblem>> {
    let sound = judge(value, Stage::Published)?;
    read(&sound).map_err(|_| vec![MemberProblem::new("event", "could not be read")])
}

fn read(sound: &Sound<'_>) -> Result<IngestedEvent, serde_json::Error> {
    let event = sound.event;
    Ok(IngestedEvent {
        payload: serde_json::from_value(Value::Object(payload(sound)))?,
        verbosity: member(event, "verbosity")?,
        urgency: member(event, "urgency")?,
        localization_hints: member(event, "localization_hints")?,
        correlation_id: member(event, "correlation_id")?,
        extensions: without_ours(member(event, "extensions")?.unwrap_or_default()),
        context: event.get("@context").cloned(),
        sent: sent_id(event),
    })
}

fn sent_id(event: &Map<String, Value>) -> Option<SentEventId> {
    let event_id = event.get("event_id")?.as_str()?.to_owned();
    let mut content = event.clone();
    content.retain(|name, _| !STAMPED.contains(&name.as_str()));
    // Numbers without a canonical form are compared as written.
    let content = Value::Object(content);
    let bytes = canonical::of_value(&content).unwrap_or_else(|_| content.to_string().into_bytes());
    Some(SentEventId { event_id, content: Digest::of(&bytes) })
}

fn payload(sound: &Sound<'_>) -> Map<String, Value> {
    let mut payload = Map::from_iter([("type".to_owned(), Value::String(sound.type_name.clone()))]);
    for member in sound.payload {
        if let Some(mut value) = sound.event.get(member.name).cloned() {
            member.shape.whole(&mut value);
            payload.insert(member.name.to_owned(), value);
        }
        if member.name == "reply_token" {
            payload.insert(member.name.to_owned(), Value::String(String::new()));
        }
    }
    payload
}

/// Only the hub writes under our prefix: the outcome of a question, and the author of a text.
fn without_ours(mut extensions: Map<String, Value>) -> Map<String, Value> {
    extensions.remove(extension::PREFIX);
    extensions
}

fn member<T: DeserializeOwned>(event: &Map<String, Value>, name: &str) -> Result<Option<T>, serde_json::Error> {
    event.get(name).cloned().map(serde_json::from_value).transpose()
}
