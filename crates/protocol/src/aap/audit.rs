//! `GET /agent/audit` (AAP 7.1, 17.4): the audit entries of a delegation or an AAP session.

use super::revoke::{RollbackReport, RollbackStatus};
use crate::time::{UnixMillis, rfc3339};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AuditPage {
    pub entries: Vec<AuditEntry>,
    pub next_cursor: Option<String>,
    pub total_count: i64,
}

/// One entry. Erased and inapplicable members are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AuditEntry {
    #[serde(with = "rfc3339")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub timestamp: UnixMillis,
    pub event_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent_type: Option<String>,
    /// Set when the intent type is in no scope's vocabulary and the project lets such types pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent_type_known: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegation_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acting_for: Option<String>,
    /// The service account that acted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account_id: Option<String>,
    /// The people whose data was touched, as the service named them (AAP 11.4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_subjects: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The caller's reason for a revocation or cancellation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The actor: `user`, `admin`, `operator`, `agent`, `service`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The rule or event that ended a delegation without a person's act.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
    /// The agent's own words about a completed task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The thumbprint (RFC 7638) of a DPoP key that began to act in the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jkt: Option<String>,
    /// The decision behind it, if it needed approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_id: Option<String>,
    /// The digest of the approved action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action_sha256: Option<String>,
    /// A write, as refusals of its repeats and the report of a rollback name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// Whether a write took effect: `committed`, `none` or `unknown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<String>,
    /// What remains of a cancelled session, and what became of its steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollback_status: Option<RollbackStatus>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollback: Option<RollbackReport>,
    /// The scopes of a scope expansion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scopes: Option<Vec<String>>,
    /// The scope that the call used beyond the consent receipt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expanded_scope: Option<String>,
    /// `self_asserted` if the agent's own word was enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmation: Option<String>,
    /// True if the call was a dry run: nothing was committed by it (AAP 14.1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<bool>,
    /// Set if the stored entry does not fit its hash or its commitments: what does not fit is left out, and nothing of the rest
    /// is certain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence_fault: Option<String>,
    /// The entry's position in the evidence log, and its leaf hash.
    pub lane: i64,
    pub seq: i64,
    pub leaf_hash: String,
}
