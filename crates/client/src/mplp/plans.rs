//! An agent's plans.

use super::{Mplp, MplpError, document};
use countersign_protocol::mplp::{
    Confirm, Difference, MplpId, Plan, PlanActions, PlanSubmission, ProposeRequest, ReasonGiven, StepReport,
};

/// Names the decision behind a Confirm, for [`crate::decisions::Decisions::wait`].
const DECISION: &str = "countersign-decision";

/// What a proposal came to: the question that people were asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposed {
    pub confirm: Confirm,
    /// The decision that the agent can wait for.
    pub decision_id: String,
}

impl Mplp {
    /// Writes a plan, or a draft anew. Whatever status it claims, it is a draft.
    pub async fn write(&self, plan: &PlanSubmission) -> Result<Plan, MplpError> {
        self.post("/plans", plan).await
    }

    /// Asks the people entitled whether the plan may run. What was asked already and is open is not asked twice.
    pub async fn propose(&self, plan: &MplpId, ask: &ProposeRequest) -> Result<Proposed, MplpError> {
        let answer = self.post_to(&format!("/plans/{plan}/propose"), ask).await?;
        let confirm: Confirm = document(&answer)?;
        let named = answer.headers.get(DECISION).and_then(|id| id.to_str().ok()).map(str::to_owned);
        let decision_id = named.unwrap_or_else(|| super::decision_id(&confirm.confirm_id));
        Ok(Proposed { confirm, decision_id })
    }

    pub async fn plan(&self, plan: &MplpId) -> Result<Plan, MplpError> {
        self.get(&format!("/plans/{plan}")).await
    }

    /// What each step runs, and how much of that is left.
    pub async fn actions(&self, plan: &MplpId) -> Result<PlanActions, MplpError> {
        self.get(&format!("/plans/{plan}/actions")).await
    }

    /// What changed since the last question about it, in lines for people.
    pub async fn changes(&self, plan: &MplpId) -> Result<Vec<String>, MplpError> {
        let told: Difference = self.get(&format!("/plans/{plan}/diff")).await?;
        Ok(told.lines)
    }

    /// How the plan would change if this were written. Nothing is.
    pub async fn difference(&self, plan: &MplpId, to: &PlanSubmission) -> Result<Vec<String>, MplpError> {
        let told: Difference = self.post(&format!("/plans/{plan}/diff"), to).await?;
        Ok(told.lines)
    }

    /// Says what became of a step that is the agent's own business.
    pub async fn report(&self, plan: &MplpId, step: &MplpId, report: &StepReport) -> Result<Plan, MplpError> {
        self.post(&format!("/plans/{plan}/steps/{step}"), report).await
    }

    /// Calls a plan off, with everything that it may still run.
    pub async fn cancel(&self, plan: &MplpId, reason: Option<&str>) -> Result<Plan, MplpError> {
        let why = ReasonGiven { reason: reason.map(str::to_owned) };
        self.post(&format!("/plans/{plan}/cancel"), &why).await
    }
}
