//! Documents beside the closed schemas: the actions of steps, the rest of an approval, and changes.

use super::{MplpId, PlanStatus, StepStatus};
use crate::{
    aaep::event::Risk,
    bounds::{Amount, Bound},
    request::TextAuthor,
    time::{UnixMillis, rfc3339, rfc3339_option},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// `GET /mplp/v1/plans/{plan}/actions`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlanActions {
    pub plan_id: MplpId,
    pub status: PlanStatus,
    /// The Confirm that is pending about it, or that approved it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm_id: Option<MplpId>,
    /// How long its steps may run after the approval.
    pub lasts_seconds: i64,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "rfc3339_option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub until: Option<UnixMillis>,
    /// Why it is a draft again, in the words of the person who rejected it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    /// Every step, in the plan's order.
    pub steps: Vec<StepShown>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StepShown {
    pub step_id: MplpId,
    /// In the agent's words.
    pub description: String,
    pub status: StepStatus,
    /// Whether a person approved this step; absent before a decision about the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<bool>,
    /// Absent for a step without an enforced action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<Runs>,
}

/// The action of a step, and its progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Runs {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<String>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub arguments: Map<String, Value>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub released: BTreeMap<String, Bound>,
    /// The description shown to people.
    pub shown: String,
    pub words: TextAuthor,
    pub risk_level: Risk,
    pub irreversible: bool,
    /// Every call needs approval, even under an approved plan.
    pub asks_again: bool,
    pub uses: i64,
    pub done: i64,
    /// Claimed, with no outcome yet.
    pub under_way: i64,
    /// The remaining uses; absent without an approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<Left>,
}

/// The rest of an approval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Left {
    pub allowance_id: String,
    pub state: AllowanceStatus,
    /// Zero for one that is over.
    pub uses: i64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sums: Vec<SumLeft>,
    #[serde(with = "rfc3339")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub until: UnixMillis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AllowanceStatus {
    Open,
    Spent,
    Lapsed,
    Cancelled,
}

impl AllowanceStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Spent => "spent",
            Self::Lapsed => "lapsed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// The remaining amount of one argument over all calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SumLeft {
    /// By its dotted name.
    pub argument: String,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub limit: Amount,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub left: Amount,
    pub unit: String,
}

/// One standing approval, for the people who may revoke it. `GET /mplp/v1/allowances`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AllowanceShown {
    pub confirm_id: MplpId,
    pub decision_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_id: Option<MplpId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_id: Option<MplpId>,
    /// The description of the calls that it covers.
    pub shown: String,
    pub words: TextAuthor,
    /// The agent that may use it: its operator's domain, or the id of its key.
    pub agent: String,
    /// When a person gave it.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "rfc3339_option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub approved_at: Option<UnixMillis>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub released: BTreeMap<String, Bound>,
    /// The number of approved calls.
    pub uses: i64,
    pub left: Left,
}

/// `POST /mplp/v1/plans/{plan}/propose`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ProposeRequest {
    /// A role of the agent's own; its first if absent (M-06).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_by_role: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<i64>,
}

/// An optional reason for a cancellation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ReasonGiven {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The changes, one per line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlanDifference {
    pub lines: Vec<String>,
}
