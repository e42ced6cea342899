//! Roles: the label for requesting or deciding, and its capabilities (M-06).

use super::{BaseEvent, Governance, Meta, MplpId, TraceBase, members::moment_option};
use crate::time::UnixMillis;
use serde::{Deserialize, Serialize};

/// The capability required for deciding a Confirm.
pub const CONFIRM_APPROVE: &str = "confirm.approve";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct MplpRole {
    pub meta: Meta,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub governance: Option<Governance>,
    pub role_id: MplpId,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "moment_option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub created_at: Option<UnixMillis>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "moment_option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub updated_at: Option<UnixMillis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceBase>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<BaseEvent>,
}
