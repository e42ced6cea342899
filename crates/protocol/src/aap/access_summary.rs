//! `GET /agent/access-summary` (AAP 14.3, 17.5): the current access of agents, not a log of approvals.

use super::{
    consent_receipt::UsageLimits,
    heartbeat::WatchedTask,
    policy::{EffectivePolicy, PolicySources},
    service_account::GrantedScope,
};
use crate::mplp::AllowanceShown;
use crate::time::{UnixMillis, rfc3339, rfc3339_option};
use serde::{Deserialize, Serialize};

/// Both shapes of the published text (C-20).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum AccessSummary {
    OfAgent(Box<AgentAccess>),
    OfCaller(CallerAccess),
}

/// The active delegations of the caller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CallerAccess {
    pub delegations: Vec<DelegationAccess>,
}

/// The total access of one operator's agents for one person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AgentAccess {
    /// The operator's domain.
    pub agent: String,
    pub acting_for: String,
    /// The oldest grant that is still active.
    #[serde(with = "rfc3339")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub active_since: UnixMillis,
    /// The scopes of all active delegations; empty once all have ended.
    pub current_scopes: Vec<String>,
    /// The policy of the named delegation.
    pub effective_policy: EffectivePolicy,
    pub effective_policy_sources: PolicySources,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "rfc3339_option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub last_active: Option<UnixMillis>,
    /// Opens a page of confirmation for the signed-in person; following the link revokes nothing (C-98).
    pub revoke_url: String,
    /// The active delegations of this operator for this person.
    pub delegations: Vec<DelegationAccess>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DelegationAccess {
    pub delegation_id: String,
    pub operator: String,
    pub mode: String,
    pub scopes: Vec<String>,
    /// Of a service account: its id, what an admin granted, and its limits (AAP 11.3, AAP 14.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub granted_scope: Option<GrantedScope>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage_limits: Option<UsageLimits>,
    #[serde(with = "rfc3339")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub granted_at: UnixMillis,
    /// The last request under it; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "rfc3339_option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub last_used: Option<UnixMillis>,
    pub effective_policy: EffectivePolicy,
    pub effective_policy_sources: PolicySources,
    /// The open standing approvals under it: calls that run without a further question. They end with the delegation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub standing_approvals: Vec<AllowanceShown>,
    /// Its running tasks with heartbeats (AAP 12.2).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<WatchedTask>,
    /// The scopes that its tasks have beyond their consent receipts (AAP 12.3).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scope_expansions: Vec<ExpandedScope>,
}

/// A scope of the delegation that one task has beyond its consent receipt. It ends with the task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExpandedScope {
    pub session_id: String,
    pub scope: String,
    pub by: ExpandedBy,
    /// The decision of the person that approved it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_id: Option<String>,
    #[serde(with = "rfc3339")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub since: UnixMillis,
    #[serde(with = "rfc3339")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub expires_at: UnixMillis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ExpandedBy {
    /// A person approved it.
    Approval,
    /// The project expands consent without asking.
    Silent,
}
