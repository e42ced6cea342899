//! What is said beside the closed documents: what steps run, what is left of a yes, and what changed.

use super::{MplpId, PlanStatus, StepStatus};
use crate::{
    aaep::event::Risk,
    bounds::{Amount, Bound},
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
    /// The Confirm that is open about it, or that approved it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm_id: Option<MplpId>,
    /// How long its steps may run, from the approval on.
    pub lasts_seconds: i64,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "rfc3339_option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub until: Option<UnixMillis>,
    /// Why it is a draft again, in the words of whoever rejected it.
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
    /// Whether a person approved this step; absent while nobody has decided about the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<bool>,
    /// Absent for a step that runs nothing that anybody enforces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<Runs>,
}

/// What a step lets run, and how far that has come.
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
    /// What people read.
    pub shown: String,
    pub words: WhoseWords,
    pub risk_level: Risk,
    pub irreversible: bool,
    /// A person is asked again for every call, whatever the plan's approval says.
    pub asks_again: bool,
    pub uses: i64,
    pub done: i64,
    /// Claimed, and not known yet what became of it.
    pub under_way: i64,
    /// What may still run; absent where nothing was approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<Left>,
}

/// Whose words a person reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum WhoseWords {
    /// The agent's own: nobody has checked them.
    Agent,
    /// Rendered by the template of the API's owner.
    Owner,
}

/// What is left of a yes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Left {
    pub allowance_id: String,
    pub state: AllowanceStatus,
    /// Nought for one that is over.
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

/// What all calls together may still take of one argument.
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

/// One open yes, for whoever may take it back. `GET /mplp/v1/allowances`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AllowanceShown {
    pub confirm_id: MplpId,
    pub decision_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_id: Option<MplpId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_id: Option<MplpId>,
    /// What it lets run, as people read it.
    pub shown: String,
    pub words: WhoseWords,
    /// The agent that may use it: its operator's domain, or the id of its key.
    pub agent: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub released: BTreeMap<String, Bound>,
    /// How many calls it was given for.
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

/// Why something is called off, if that is to be said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ReasonGiven {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What changed, in lines for people.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Difference {
    pub lines: Vec<String>,
}
