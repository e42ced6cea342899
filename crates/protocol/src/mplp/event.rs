//! Base events: the history of an object, stored inside it.

use super::{
    MplpId,
    members::{event_type, moment, object_or_null},
};
use crate::time::UnixMillis;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

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
