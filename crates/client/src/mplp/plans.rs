//! An agent's plans.

use super::{Mplp, MplpError, document};
use countersign_protocol::mplp::{
    Confirm, MplpId, Plan, PlanActions, PlanDifference, PlanSubmission, ProposeRequest, ReasonGiven, StepReport,
};

/// Names the decision behind a Confirm, for [`crate::decisions::Decisions::wait`].
const DECISION: &str = "countersign-decision";

/// The result of a proposal: the pending Confirm.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposed {
    pub confirm: Confirm,
    /// The decision that the agent can wait for.
    pub decision_id: String,
}

impl Mplp {
    /// Writes a plan, or rewrites a draft. Regardless of the status it claims, it becomes a draft.
    pub async fn write(&self, plan: &PlanSubmission) -> Result<Plan, MplpError> {
        self.post("/plans", plan).await
    }

    /// Asks the entitled people to approve the plan. A pending proposal is not raised twice.
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

    /// The action of each step, and its remaining uses.
    pub async fn actions(&self, plan: &MplpId) -> Result<PlanActions, MplpError> {
        self.get(&format!("/plans/{plan}/actions")).await
    }

    /// The changes since the last proposal, as lines of text.
    pub async fn changes(&self, plan: &MplpId) -> Result<Vec<String>, MplpError> {
        let told: PlanDifference = self.get(&format!("/plans/{plan}/diff")).await?;
        Ok(told.lines)
    }

    /// The changes that this submission would make. Nothing is written.
    pub async fn difference(&self, plan: &MplpId, to: &PlanSubmission) -> Result<Vec<String>, MplpError> {
        let told: PlanDifference = self.post(&format!("/plans/{plan}/diff"), to).await?;
        Ok(told.lines)
    }

    /// Reports on a step that the agent runs itself.
    pub async fn report(&self, plan: &MplpId, step: &MplpId, report: &StepReport) -> Result<Plan, MplpError> {
        self.post(&format!("/plans/{plan}/steps/{step}"), report).await
    }

    /// Cancels a plan with all of its remaining allowances.
    pub async fn cancel(&self, plan: &MplpId, reason: Option<&str>) -> Result<Plan, MplpError> {
        let why = ReasonGiven { reason: reason.map(str::to_owned) };
        self.post(&format!("/plans/{plan}/cancel"), &why).await
    }
}
