//! What an agent publishes to the hub: an event without what the hub stamps itself.

use super::{
    envelope::{LocalizationHints, Urgency, Verbosity},
    event::Payload,
    judge::{self, Sound},
    shape::Stage,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub use super::problem::Problem;

/// What of an event is the agent's to say. Ids, times, the producer and the reply token are not: whatever the agent
/// sent in their place was checked for shape and is gone. The reply token of a question is empty here.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    pub payload: Payload,
    pub verbosity: Option<Verbosity>,
    pub urgency: Option<Urgency>,
    pub localization_hints: Option<LocalizationHints>,
    pub correlation_id: Option<String>,
    pub extensions: Map<String, Value>,
    /// As it was sent; nothing means the core context.
    pub context: Option<Value>,
}

/// Reads an event by every rule that needs no knowledge of its session, and tells all that is wrong at once.
pub fn published(value: &Value) -> Result<Published, Vec<Problem>> {
    let sound = judge::judge(value, Stage::Published)?;
    read(&sound).map_err(|_| vec![Problem::new("event", "could not be read")])
}

fn read(sound: &Sound<'_>) -> Result<Published, serde_json::Error> {
    let event = sound.event;
    Ok(Published {
        payload: serde_json::from_value(Value::Object(payload(sound)))?,
        verbosity: member(event, "verbosity")?,
        urgency: member(event, "urgency")?,
        localization_hints: member(event, "localization_hints")?,
        correlation_id: member(event, "correlation_id")?,
        extensions: member(event, "extensions")?.unwrap_or_default(),
        context: event.get("@context").cloned(),
    })
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

fn member<T: DeserializeOwned>(event: &Map<String, Value>, name: &str) -> Result<Option<T>, serde_json::Error> {
    event.get(name).cloned().map(serde_json::from_value).transpose()
}
