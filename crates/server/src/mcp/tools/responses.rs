//! Decisions and plans as tools return them: the documents of the endpoints, plus the next step.

use super::next;
use crate::{mcp::tool::ToolCall, mplp::responses};
use countersign_engine::{ProjectReader, Refusal};
use countersign_protocol::{
    decisions::DecisionDocument,
    mplp::{MplpId, PlanActions, PlanStatus},
};

#[derive(Debug, serde::Serialize, utoipa::ToSchema)]
pub(in crate::mcp) struct DecisionTold {
    #[serde(flatten)]
    decision: DecisionDocument,
    /// The next step, in words.
    next: String,
}

impl From<DecisionDocument> for DecisionTold {
    fn from(decision: DecisionDocument) -> Self {
        Self { next: next::after(&decision), decision }
    }
}

#[derive(Debug, serde::Serialize, utoipa::ToSchema)]
pub(in crate::mcp) struct PlanTold {
    title: String,
    #[serde(flatten)]
    actions: PlanActions,
    /// The pending question about it, or the one settled last.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<DecisionDocument>,
    /// The next step, in words.
    next: String,
}

impl PlanTold {
    /// The current state of a plan of the caller's.
    pub(super) async fn of(call: &ToolCall, plan: &MplpId) -> Result<Self, Refusal> {
        let (at, agent) = (&call.caller.at, &call.caller.agent);
        let shown = call.engine().plans().plan(at, &ProjectReader::Agent(Box::new(agent.clone())), plan).await?;
        let decision = match &shown.decision {
            Some(decision) => Some(call.engine().decisions().decision(at, agent, &decision.id).await?),
            None => None,
        };
        let next = after(shown.plan.document.status, decision.as_ref());
        Ok(Self { title: shown.plan.document.title.clone(), actions: responses::actions(&shown), decision, next })
    }
}

fn after(status: PlanStatus, decision: Option<&DecisionDocument>) -> String {
    match (status, decision) {
        (PlanStatus::Proposed, Some(decision)) => format!(
            "Nobody has decided yet: run no step of it. A person decides at {}, and only there: show them this link. Call \
             await_decision with decision_id {}.",
            decision.page, decision.decision_id
        ),
        (PlanStatus::Draft | PlanStatus::Proposed, _) => {
            "It is a draft: run no step of it. feedback has the reason if it was returned; change it and call \
             propose_plan."
                .into()
        }
        (PlanStatus::Approved | PlanStatus::InProgress, _) => format!("It is approved. {}", next::STEP_BY_STEP),
        (PlanStatus::Completed, _) => "Every step is done: nothing more of it may run.".into(),
        (PlanStatus::Cancelled | PlanStatus::Failed, _) => "It has ended: nothing more of it may run.".into(),
    }
}
