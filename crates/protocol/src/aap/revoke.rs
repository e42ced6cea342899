//! `POST /agent/revoke` (AAP 17.3), `POST /agent/cancel` (AAP 17.7, C-41) and `POST /agent/task-complete` (AAP 17.6).

use crate::time::{UnixMillis, rfc3339};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RevokeRequest {
    /// This or `account_id` is required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegation_id: Option<String>,
    /// All grants of a service account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account_id: Option<String>,
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
    pub rollback_status: RollbackStatus,
    /// The session's steps one by one; absent if it ended in another way before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollback: Option<RollbackReport>,
}

/// What remains of a cancelled session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum RollbackStatus {
    /// Nothing: every write that took effect was undone, or there was none.
    Completed,
    /// Something was to be undone, and something remains, is unknown, or is not finished yet.
    Partial,
    /// The writes of the session remain: none of their routes can undo them.
    NotSupported,
}

impl RollbackStatus {
    const ALL: [Self; 3] = [Self::Completed, Self::Partial, Self::NotSupported];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Partial => "partial",
            Self::NotSupported => "not_supported",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }
}

/// The steps of a cancelled session, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RollbackReport {
    /// False while writes are still being undone: repeat the request for the final report.
    pub finished: bool,
    /// Took effect, and were undone.
    pub undone: Vec<RollbackStep>,
    /// Took effect, and remain.
    pub done: Vec<RollbackStep>,
    /// Were asked for or approved, and will not run any more.
    pub not_done: Vec<RollbackStep>,
    /// May have taken effect, or may have been undone: nobody knows.
    pub unknown: Vec<RollbackStep>,
    /// There were more steps than are listed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
    /// The numbers of steps that are not listed, as far as they are known; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unlisted: Option<RollbackCounts>,
}

/// Numbers of steps, by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RollbackCounts {
    pub undone: usize,
    pub done: usize,
    pub not_done: usize,
    pub unknown: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RollbackStep {
    /// The call, as the audit names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The decision behind it, if it needed approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Why it was not undone, or what is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
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
