//! `GET /agent/scope-approval`: the person's answer to a task's request for a further scope (AAP glossary, C-63).

use crate::time::{UnixMillis, rfc3339_option};
use serde::{Deserialize, Serialize};

/// The requests of one session under its consent receipt. The members of the current one, pending or else newest, are
/// beside `session_id`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScopeApproval {
    pub session_id: String,
    #[serde(flatten)]
    pub current: ScopeRequest,
    /// All of them, newest first.
    pub requests: Vec<ScopeRequest>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScopeRequest {
    pub status: ScopeStatus,
    /// The requested scopes; the approved ones once approved.
    pub scopes: Vec<String>,
    /// While pending the deadline for an answer; once approved the end of the scopes.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "rfc3339_option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub expires_at: Option<UnixMillis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_id: Option<String>,
    /// The person's page of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// Why it is denied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denied_for: Option<DeniedFor>,
    /// The person's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// A call before this time raises no new request for a denied scope.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "rfc3339_option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub ask_again_at: Option<UnixMillis>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ScopeStatus {
    /// No scope was requested.
    #[default]
    None,
    Pending,
    Approved,
    Denied,
}

impl ScopeStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Denied => "denied",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum DeniedFor {
    /// A person rejected it.
    Rejected,
    /// Nobody answered in time.
    Expired,
    /// It was withdrawn or called off, or ended with its session.
    Cancelled,
}
