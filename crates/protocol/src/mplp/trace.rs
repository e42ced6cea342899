//! Traces: executed steps and their context.

use super::{BaseEvent, Governance, Meta, MplpId, members::moment_option};
use crate::time::UnixMillis;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Trace {
    pub meta: Meta,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub governance: Option<Governance>,
    pub trace_id: MplpId,
    pub context_id: MplpId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_id: Option<MplpId>,
    pub root_span: TraceBase,
    pub status: TraceStatus,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "moment_option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub started_at: Option<UnixMillis>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "moment_option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub finished_at: Option<UnixMillis>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub segments: Vec<Segment>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<BaseEvent>,
}

/// One span and its trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct TraceBase {
    pub trace_id: MplpId,
    pub span_id: MplpId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_span_id: Option<MplpId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_id: Option<MplpId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub attributes: Option<Map<String, Value>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Segment {
    pub segment_id: MplpId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_segment_id: Option<MplpId>,
    pub label: String,
    pub status: SegmentStatus,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "moment_option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub started_at: Option<UnixMillis>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "moment_option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub finished_at: Option<UnixMillis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub attributes: Option<Map<String, Value>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum TraceStatus {
    Pending,
    Running,
    Completed,
    Failed,
    Cancelled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SegmentStatus {
    Pending,
    Running,
    Completed,
    Failed,
    Cancelled,
    Skipped,
}
