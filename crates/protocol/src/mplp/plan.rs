//! Plans: an agent's intended steps. The action of a step is sent beside the Plan, not in it: the schema is closed (see
//! `submission`).

use super::{
    BadDocument, BaseEvent, Meta, MplpId, TraceBase,
    members::{at_least_one, some_text},
    read,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Plan {
    pub meta: Meta,
    pub plan_id: MplpId,
    pub context_id: MplpId,
    #[serde(deserialize_with = "some_text")]
    pub title: String,
    #[serde(deserialize_with = "some_text")]
    pub objective: String,
    pub status: PlanStatus,
    #[serde(deserialize_with = "at_least_one")]
    pub steps: Vec<PlanStep>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceBase>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<BaseEvent>,
}

impl Plan {
    pub fn read(bytes: &[u8]) -> Result<Self, BadDocument> {
        read::document(bytes)
    }

    /// Every step has its own id, depends only on steps of this plan, and there is no cycle.
    pub fn check_dependencies(&self) -> Result<(), BadDocument> {
        let mut open: BTreeMap<&MplpId, &PlanStep> = BTreeMap::new();
        for (at, step) in self.steps.iter().enumerate() {
            if open.insert(&step.step_id, step).is_some() {
                return Err(BadDocument::new(
                    format!("steps[{at}].step_id"),
                    "occurs twice: give each step its own id",
                ));
            }
        }
        for (at, step) in self.steps.iter().enumerate() {
            if let Some(unknown) = step.dependencies.iter().position(|id| !open.contains_key(id)) {
                let member = format!("steps[{at}].dependencies[{unknown}]");
                return Err(BadDocument::new(member, "must be the step_id of a step of this plan"));
            }
        }
        remove_runnable(&mut open);
        if open.is_empty() { Ok(()) } else { Err(BadDocument::new("steps", "depend on one another in a circle")) }
    }
}

/// Repeatedly removes every step without remaining dependencies. If a round removes none, the remaining steps contain a
/// cycle.
fn remove_runnable(open: &mut BTreeMap<&MplpId, &PlanStep>) {
    loop {
        let waits = |step: &PlanStep| step.dependencies.iter().any(|id| open.contains_key(id));
        let ready: Vec<MplpId> = open.values().filter(|step| !waits(step)).map(|step| step.step_id.clone()).collect();
        if ready.is_empty() {
            return;
        }
        for id in &ready {
            open.remove(id);
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PlanStep {
    pub step_id: MplpId,
    #[serde(deserialize_with = "some_text")]
    pub description: String,
    pub status: StepStatus,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<MplpId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_role: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order_index: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum PlanStatus {
    Draft,
    Proposed,
    Approved,
    InProgress,
    Completed,
    Cancelled,
    Failed,
}

impl PlanStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Proposed => "proposed",
            Self::Approved => "approved",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    Pending,
    InProgress,
    Completed,
    Blocked,
    Skipped,
    Failed,
}

impl StepStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Blocked => "blocked",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
        }
    }
}
