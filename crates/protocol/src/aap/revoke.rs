//! `POST /agent/revoke` (AAP 17.3), `POST /agent/cancel` (AAP 17.7, C-41) and `POST /agent/task-complete` (AAP 17.6).

use crate::time::{UnixMillis, rfc3339};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RevokeRequest {
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = String, required = true))]
    pub delegation_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// For an operator that gives up one of its own delegations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator_jwt: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RevokeResponse {
    #[serde(with = "rfc3339")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub revoked_at: UnixMillis,
    pub delegation_id: String,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CancelRequest {
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = String, required = true))]
    pub session_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The operator reports that its user withdrew the receipt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator_jwt: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CancelResponse {
    #[serde(with = "rfc3339")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub cancelled_at: UnixMillis,
    /// `not_supported`: the service has nothing that we could roll back.
    pub rollback_status: String,
}

/// `POST /agent/task-complete`
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskCompleteRequest {
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = String, required = true))]
    pub session_id: Option<String>,
    /// The agent's own summary, at most 500 characters; shown in the audit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskCompleteResponse {
    #[serde(with = "rfc3339")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub completed_at: UnixMillis,
    /// Whether the policy revoked the delegation with it.
    pub revoked: bool,
}
