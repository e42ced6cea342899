//! Capabilities of a subscriber, as requested and as honoured (AAEP 5.3).

use super::read;
use crate::aaep::{envelope::Verbosity, event::Boundary};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Absent means the default of AAEP 5.3.1, except in a renegotiation, where it means unchanged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Capabilities {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_events_per_second: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred_verbosity: Option<Verbosity>,
    /// In order of preference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub languages: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supports_confirmation_reply: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supports_clarification_reply: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coalesce_boundaries: Option<Vec<Boundary>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_filters: Option<EventFilters>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supported_conformance_levels: Option<Vec<u8>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supported_extensions: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cognitive_load: Option<CognitiveLoad>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace_wpm: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accept_signed_manifests_only: Option<bool>,
    /// The objects of extensions, by their prefix. An unknown member that is no object is dropped (C23).
    #[serde(flatten)]
    pub extensions: Map<String, Value>,
}

/// Event types by patterns that may end in `*`. A closed object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventFilters {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclude: Option<Vec<String>>,
}

/// How much information the listener wants at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CognitiveLoad {
    Low,
    #[default]
    Medium,
    High,
}

impl Capabilities {
    pub fn parse(value: &Value) -> Result<Self, String> {
        let object = value.as_object().ok_or("must be an object")?;
        read::known(object, read::CAPABILITIES)?;
        let is_known = |name: &str| read::CAPABILITIES.iter().any(|member| member.name == name);
        let kept = |(name, value): &(&String, &Value)| is_known(name) || value.is_object();
        let kept: Map<String, Value> = object.iter().filter(kept).map(|(n, v)| (n.clone(), v.clone())).collect();
        read::typed(&kept, read::CAPABILITIES, &[])
    }

    pub(super) fn parse_member(of: &Map<String, Value>, name: &str) -> Result<Self, String> {
        Self::parse(of.get(name).unwrap_or(&Value::Null)).map_err(|why| format!("{name}.{why}"))
    }
}
