//! Requests of agents and people about plans and Confirms.
//!
//! A Plan's schema is closed and cannot express the action of a step, so the actions are sent beside it: a body is
//! either a bare document or an envelope with the document.

use super::{BadDocument, Confirm, DecisionStatus, MplpId, Plan, StepStatus, read};
use crate::{
    bounds::{Bound, Bounds, MAX_USES},
    json,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

pub const MAX_PLAN_BYTES: usize = 100 * 1024;
pub const MAX_STEPS: usize = 200;

/// `POST /mplp/v1/plans`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PlanSubmission {
    pub plan: Plan,
    /// The actions of steps, by step id. A step without an action is left to the agent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub actions: BTreeMap<MplpId, StepAction>,
    /// How long the plan may run after its approval; the project's default if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasts_seconds: Option<i64>,
}

/// The call of a step: a tool or a route, with fixed arguments except the released ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct StepAction {
    /// A tool of the project; or a route.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<String>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub arguments: Map<String, Value>,
    /// Arguments that may differ, by dotted name, each within a bound: `most` with `unit` for an exact decimal,
    /// `one_of` for a list of values, or `text` for the most characters.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub released: BTreeMap<String, Bound>,
    /// How often it may run.
    #[serde(default = "once")]
    pub uses: i64,
}

fn once() -> i64 {
    1
}

impl PlanSubmission {
    pub fn read(bytes: &[u8]) -> Result<Self, BadDocument> {
        if bytes.len() > MAX_PLAN_BYTES {
            return Err(BadDocument::new("", format!("a plan may have {MAX_PLAN_BYTES} bytes, no more")));
        }
        let submission =
            bare_or_enveloped(bytes, "plan", |plan| Self { plan, actions: BTreeMap::new(), lasts_seconds: None })?;
        submission.check()?;
        Ok(submission)
    }

    fn check(&self) -> Result<(), BadDocument> {
        if self.plan.steps.len() > MAX_STEPS {
            return Err(BadDocument::new("steps", format!("a plan may have {MAX_STEPS} steps, no more")));
        }
        self.plan.check_dependencies()?;
        self.actions.iter().try_for_each(|(step, action)| self.check_action(step, action))
    }

    fn check_action(&self, step: &MplpId, action: &StepAction) -> Result<(), BadDocument> {
        let at = format!("actions.{step}");
        if !self.plan.steps.iter().any(|known| known.step_id == *step) {
            return Err(BadDocument::new(at, "must be the step_id of a step of this plan"));
        }
        action.check().map_err(|why| why.under(&at))
    }
}

impl StepAction {
    fn check(&self) -> Result<(), BadDocument> {
        if self.tool.is_some() == self.route.is_some() {
            return Err(BadDocument::new("", "must have either tool or route"));
        }
        if !(1..=MAX_USES).contains(&self.uses) {
            return Err(BadDocument::new("uses", format!("must be from 1 to {MAX_USES}")));
        }
        Ok(())
    }
}

/// `POST /mplp/v1/confirms`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ConfirmSubmission {
    pub confirm: Confirm,
    /// The Context, Trace, extension or other object to approve, in the agent's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub target: Option<Map<String, Value>>,
}

impl ConfirmSubmission {
    pub fn read(bytes: &[u8]) -> Result<Self, BadDocument> {
        bare_or_enveloped(bytes, "confirm", |confirm| Self { confirm, target: None })
    }
}

/// No MPLP document has a member of its own name, so that member identifies an envelope.
fn bare_or_enveloped<E, D>(bytes: &[u8], name: &str, enveloped: impl FnOnce(D) -> E) -> Result<E, BadDocument>
where
    E: DeserializeOwned,
    D: DeserializeOwned,
{
    let body = json::value(bytes).map_err(|why| BadDocument::new("", why.to_string()))?;
    if body.get(name).is_some() { read::value(&body) } else { read::value(&body).map(enveloped) }
}

/// A person's decision about a Confirm. Decider and time are known from the request itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct DecisionRequest {
    pub status: DecisionStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The role to decide under, by name or id: one of the person's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by_role: Option<String>,
    /// Decide although the Confirm is locked (M-27).
    #[serde(default, rename = "override", skip_serializing_if = "std::ops::Not::not")]
    pub by_override: bool,
    /// Only these steps of the plan; all of them if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<MplpId>>,
    /// The limits of a standing approval, beyond the one call that was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Bounds>,
}

impl DecisionRequest {
    pub fn read(bytes: &[u8]) -> Result<Self, BadDocument> {
        read::document(bytes)
    }
}

/// An agent's report on a step that it runs itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct StepReport {
    pub status: StepStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl StepReport {
    pub fn read(bytes: &[u8]) -> Result<Self, BadDocument> {
        read::document(bytes)
    }
}

/// One page of a list, and the cursor of the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ListPage<T> {
    pub items: Vec<T>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}
