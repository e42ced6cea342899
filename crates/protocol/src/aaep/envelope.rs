//! The envelope of every event (AAEP 3.2, 3.3).

use crate::time::UnixMillis;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub const CONTEXT: &str = "https://aaep-protocol.org/context/v1";
pub const VERSION: &str = "1.0.0";

/// The envelope of an emitted event. The hub stamps producer, time and id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventEnvelope {
    #[serde(rename = "@context")]
    pub context: Value,
    pub event_id: String,
    pub session_id: String,
    #[serde(with = "crate::time::rfc3339")]
    pub timestamp: UnixMillis,
    pub producer: Producer,
    pub aaep_version: String,
    /// Only on streams that include every event of a session (C14).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence_number: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verbosity: Option<Verbosity>,
    pub urgency: Urgency,
    pub localization_hints: LocalizationHints,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extensions: Map<String, Value>,
}

/// The speaking agent. A closed object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Producer {
    pub agent_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest_uri: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Urgency {
    Background,
    #[default]
    Normal,
    Critical,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verbosity {
    Terse,
    #[default]
    Normal,
    Detailed,
}

/// The language of an event's texts (AAEP 11.1; always emitted, C8). A closed object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalizationHints {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub primary_language: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_direction: Option<TextDirection>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available_languages: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback_chain: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calendar: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextDirection {
    Ltr,
    Rtl,
    Auto,
}

impl LocalizationHints {
    pub fn of(language: &str) -> Self {
        Self {
            primary_language: Some(language.to_owned()),
            text_direction: None,
            available_languages: None,
            fallback_chain: None,
            script: None,
            calendar: None,
        }
    }
}

/// A timestamp in events: UTC with exactly three fractional digits (AAEP 3.2.5).
pub fn timestamp(at: UnixMillis) -> String {
    at.to_rfc3339()
}
