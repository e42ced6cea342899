//! Members of every object: metadata, and its history as base events.

use super::{
    MplpId,
    members::{each_once, event_type, moment, moment_option, object_or_null, version},
};
use crate::time::UnixMillis;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The version of protocol and schemas that we write (M-01, M-05).
pub const VERSION: &str = "1.0.0";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Meta {
    #[serde(deserialize_with = "version")]
    pub protocol_version: String,
    #[serde(deserialize_with = "version")]
    pub schema_version: String,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "moment_option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub created_at: Option<UnixMillis>,
    /// The producer. There is no member `source`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "moment_option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub updated_at: Option<UnixMillis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_by: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "each_once")]
    pub tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "each_once")]
    pub cross_cutting: Vec<CrossCutting>,
}

impl Meta {
    /// The metadata of our own objects.
    pub fn ours(now: UnixMillis, created_by: impl Into<String>) -> Self {
        Self {
            protocol_version: VERSION.into(),
            schema_version: VERSION.into(),
            created_at: Some(now),
            created_by: Some(created_by.into()),
            updated_at: None,
            updated_by: None,
            tags: Vec::new(),
            cross_cutting: Vec::new(),
        }
    }

    #[must_use]
    pub fn updated(mut self, now: UnixMillis, by: impl Into<String>) -> Self {
        (self.updated_at, self.updated_by) = (Some(now), Some(by.into()));
        self
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CrossCutting {
    Coordination,
    ErrorHandling,
    EventBus,
    LearningFeedback,
    Observability,
    Orchestration,
    Performance,
    ProtocolVersioning,
    Security,
    StateSync,
    Transaction,
}

/// An entry of the history inside an object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct BaseEvent {
    pub event_id: MplpId,
    /// Words between dots, such as `confirm.requested`: underscores are for the bus (M-15).
    #[serde(deserialize_with = "event_type")]
    pub event_type: String,
    pub source: String,
    #[serde(with = "moment")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub timestamp: UnixMillis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<MplpId>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "object_or_null")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub data: Option<Map<String, Value>>,
}
