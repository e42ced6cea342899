//! Plans and foreign approval records (MPLP). What a plan lets run is an allowance; what it waits for is a decision.

use super::{Point, Raiser, Words};
use crate::{bounded::Pattern, clarification::words::Clarified};
use countersign_protocol::{
    aaep::event::Risk,
    hash::Digest,
    ids::RowKey,
    mplp::{Confirm, MplpId, Plan as PlanDocument, StepAction},
    time::UnixMillis,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A plan: what its agent wrote, and how far it has come. Its status follows decisions and executions, in their steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    pub id: MplpId,
    /// Only the same principal sees, changes or proposes it.
    pub by: Raiser,
    /// With the statuses and events that are true here, whatever the agent wrote.
    pub document: PlanDocument,
    /// What the steps run; a step that is not listed runs nothing that anybody enforces.
    pub actions: BTreeMap<MplpId, Planned>,
    /// How long its yes lasts from the approval, in seconds; the person is shown it.
    pub lasts_s: i64,
    /// Counts the changes of its content.
    pub revision: i64,
    /// The decision that is open about it, or that approved it.
    #[serde(default)]
    pub confirm: Option<RowKey>,
    /// What the last question about it showed: a later one says what changed since.
    #[serde(default)]
    pub asked: Option<AskedPlan>,
    /// Why it came back.
    #[serde(default)]
    pub feedback: Option<Feedback>,
    /// What was unclear about it, and what the answers were.
    #[serde(default)]
    pub clarified: Option<Clarified>,
    /// The steps that a person approved; none while nobody has.
    #[serde(default)]
    pub approved: Option<Vec<MplpId>>,
    /// Until when its steps may run.
    #[serde(default)]
    pub until: Option<UnixMillis>,
}

/// What a step runs, as it was when the plan was written: checked, and in the words that a person reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Planned {
    /// As the agent wrote it.
    pub action: StepAction,
    pub pattern: Pattern,
    /// Where it can be spent.
    pub point: Point,
    /// The route's action or the tool's name, as policy knows it.
    pub tool: String,
    /// The policy of then.
    pub rules: Digest,
    pub risk: Risk,
    pub irreversible: bool,
    pub lease_s: i64,
    /// Its risk is above the project's line, so a person is asked again for every call.
    pub asks_again: bool,
    /// What a person reads: the owner's words for a route, else the call itself.
    pub shown: String,
    pub words: Words,
    #[serde(default)]
    pub tally: StepTally,
}

/// The uses of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepTally {
    /// Claimed, and not known yet what became of it.
    pub under_way: i64,
    pub done: i64,
    /// Used up without being done.
    pub lost: i64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AskedPlan {
    pub confirm_id: MplpId,
    pub document: PlanDocument,
    pub actions: BTreeMap<MplpId, Planned>,
    /// How long its yes would have lasted.
    #[serde(default)]
    pub lasts_s: i64,
    /// All that changed since the question before it; none if it was the first.
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

/// An approval record of somebody else, kept as it came. Nothing is enforced from it.
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
