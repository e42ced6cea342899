//! The gateway's answer to a dry run (AAP 14.1): what the same request without the marker would do.

use crate::{aaep::event::Risk, bounds::Amount};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The header of a dry run, and of its answer.
pub const HEADER: &str = "x-agent-dry-run";
/// The query parameter.
pub const PARAMETER: &str = "dry_run";

/// 200: nothing was committed but the audit entry and the proof.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DryRunPreview {
    /// Always true.
    pub dry_run: bool,
    pub route: String,
    pub action: String,
    /// The digest of the request, hexadecimal: a question about the same request has it, and an approval is for it.
    /// Absent for an agent without a delegation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The requirements that this request met.
    pub checked: DryRunChecks,
    pub would_need: DryRunNeed,
    pub would_send: WouldSend,
    /// The question for a person; absent if none would be asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub would_ask: Option<WouldAsk>,
    pub would_use: WouldUse,
    /// How long an approved call would be held before it is sent, in seconds; absent if it would not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub would_hold_for_undo: Option<i64>,
    /// How to go on.
    pub next: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DryRunChecks {
    /// The scopes, one of which is needed.
    pub scopes: Vec<String>,
    pub intent_types: Vec<String>,
    pub tier: u8,
    /// Whether every call needs a proof of possession.
    pub proof: bool,
    /// The resource of the call, where the route has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
}

/// The confirmation that the request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum DryRunNeed {
    Nothing,
    /// The agent's own word: `X-Agent-Confirm: true`.
    OwnWord,
    /// A person's approval of exactly this request.
    Person,
}

/// The request as the upstream would receive it, without the headers that the gateway adds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WouldSend {
    pub method: String,
    /// Path and query.
    pub target: String,
    /// Empty if it has none.
    pub content_type: String,
    /// Empty if it has none.
    pub content_encoding: String,
    /// The headers that the route lists.
    pub headers: BTreeMap<String, String>,
    pub body_bytes: usize,
    pub body_sha256: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WouldAsk {
    pub why: Vec<String>,
    /// `role:approver`, `user:NAME`, or the person for whom the agent acts.
    pub approvers: Vec<String>,
    /// The least assurance of a valid answer.
    pub assurance: String,
    pub risk_level: Risk,
    pub irreversible: bool,
    pub timeout_seconds: i64,
    /// The lifetime of an approval.
    pub approval_seconds: i64,
    pub question: QuestionTexts,
    /// The question about the same request that is pending already: no other one would be raised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_id: Option<String>,
}

/// The text of a question in all verbosities, rendered from the bytes of the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QuestionTexts {
    pub action: String,
    pub consequence: String,
    pub terse: String,
    pub normal: String,
    pub detailed: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WouldUse {
    /// The limits of the receipt, of the service account and of the delegation's policy.
    pub limits: Vec<LimitUse>,
    /// The approval that covers the request already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalUse>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LimitUse {
    /// As in `X-Agent-Limit-Reason`.
    pub limit: String,
    /// In the unit of the limit.
    pub used: i64,
    pub most: i64,
    /// What the request would add; absent where only the response tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub would_add: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ApprovalUse {
    pub decision_id: String,
    /// Whether it covers several calls: a standing approval, or a step of an approved plan.
    pub standing: bool,
    /// The calls that it covers now, this one included.
    pub uses_left: i64,
    /// The uses that the request would take.
    pub would_take: i64,
    /// What the request would take of the amounts that all calls together may use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sums: Vec<SumUse>,
}

/// Exact decimals, in the unit of the sum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SumUse {
    /// By its dotted name.
    pub argument: String,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub limit: Amount,
    /// The amount left now, this request's included.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub left: Amount,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub would_take: Amount,
    pub unit: String,
}
