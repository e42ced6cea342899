//! Plans and imported approval records (MPLP). An allowance runs a plan's step; a decision approves the plan.

use super::{Point, Raiser, TextAuthor};
use crate::{bounded::Pattern, clarification::texts::ClarificationResult};
use countersign_protocol::{
    aaep::event::Risk,
    hash::Digest,
    ids::RowKey,
    mplp::{Confirm, MplpId, Plan as PlanDocument, StepAction},
    time::UnixMillis,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A plan: the agent's document and its progress. Its status follows decisions and executions, in the same commits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    pub id: MplpId,
    /// Only the same principal sees, changes or proposes it.
    pub by: Raiser,
    /// With the true statuses and events, regardless of the agent's values.
    pub document: PlanDocument,
    /// The actions of the steps; a step without one runs nothing that is enforced.
    pub actions: BTreeMap<MplpId, PlannedAction>,
    /// The lifetime of its approval in seconds; shown to the approver.
    pub lasts_s: i64,
    /// Counts the changes of its content.
    pub revision: i64,
    /// The decision that is pending about it, or that approved it.
    #[serde(default)]
    pub confirm: Option<RowKey>,
    /// The plan as last proposed: a later proposal shows the changes since.
    #[serde(default)]
    pub asked: Option<AskedPlan>,
    /// Why it returned to draft.
    #[serde(default)]
    pub feedback: Option<Feedback>,
    /// The clarified answers about it.
    #[serde(default)]
    pub clarified: Option<ClarificationResult>,
    /// The approved steps; none before an approval.
    #[serde(default)]
    pub approved: Option<Vec<MplpId>>,
    /// When its steps may no longer run.
    #[serde(default)]
    pub until: Option<UnixMillis>,
}

/// A step's action when the plan was written: checked, with the description shown to a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedAction {
    /// As the agent wrote it.
    pub action: StepAction,
    pub pattern: Pattern,
    /// The enforcement point that may claim it.
    pub point: Point,
    /// The route's action or the tool's name, as in the policy.
    pub tool: String,
    /// The policy when the plan was written.
    pub rules: Digest,
    pub risk: Risk,
    pub irreversible: bool,
    pub lease_s: i64,
    /// Its risk exceeds the project's threshold, so every call needs approval.
    pub asks_again: bool,
    /// The displayed description: the owner's for a route, else the call itself.
    pub shown: String,
    pub words: TextAuthor,
    #[serde(default)]
    pub tally: StepTally,
}

/// The uses of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepTally {
    /// Claimed, with no outcome yet.
    pub under_way: i64,
    pub done: i64,
    /// Used up without success.
    pub lost: i64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AskedPlan {
    pub confirm_id: MplpId,
    pub document: PlanDocument,
    pub actions: BTreeMap<MplpId, PlannedAction>,
    /// The lifetime of its approval.
    #[serde(default)]
    pub lasts_s: i64,
    /// All changes since the previous proposal; none for the first one.
    #[serde(default)]
    pub changes: Option<Vec<String>>,
}

/// Why a plan is a draft again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feedback {
    pub confirm_id: MplpId,
    pub reason: String,
    pub at: UnixMillis,
}

/// An approval record of another system, stored unchanged. Nothing is enforced from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImportedConfirm {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    pub id: MplpId,
    pub principal: String,
    pub imported_at: UnixMillis,
    pub document: Confirm,
}
