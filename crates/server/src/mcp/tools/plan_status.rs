//! `plan_status`: `GET /mplp/v1/plans/{plan}/actions` as a tool, with the question about the plan.

use crate::{
    mcp::tool::{Call, Hints, Tool},
    mplp::shown,
};
use countersign_engine::{Reader, Refusal};
use countersign_protocol::{
    decisions::DecisionDocument,
    mplp::{MplpId, PlanActions, PlanStatus as Status},
};

pub(super) struct PlanStatus;

#[derive(Debug, serde::Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct PlanStatusArguments {
    /// As propose_plan was given it.
    plan_id: MplpId,
}

#[derive(Debug, serde::Serialize, utoipa::ToSchema)]
pub(in crate::mcp) struct PlanTold {
    title: String,
    #[serde(flatten)]
    actions: PlanActions,
    /// The question that is open about it, or that was settled last.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<DecisionDocument>,
    /// What to do now, in words.
    next: String,
}

impl Tool for PlanStatus {
    type Arguments = PlanStatusArguments;
    type Answer = PlanTold;

    const NAME: &'static str = "plan_status";
    const TITLE: &'static str = "How a plan stands";
    const DESCRIPTION: &'static str = "How a plan of yours stands: whether it is approved, how far each step has come, \
        what is left of each step's yes, and the question that people are or were asked about it. feedback says why a \
        plan came back.";
    const HINTS: Hints = Hints::Reads;

    async fn call(call: &Call, asked: PlanStatusArguments) -> Result<PlanTold, Refusal> {
        let (at, agent) = (&call.caller.at, &call.caller.agent);
        let shown = call.engine().plan(at, &Reader::Agent(Box::new(agent.clone())), &asked.plan_id).await?;
        let decision = match &shown.decision {
            Some(decision) => Some(call.engine().decision(at, agent, &decision.id).await?),
            None => None,
        };
        let next = next(shown.plan.document.status, decision.as_ref());
        Ok(PlanTold { title: shown.plan.document.title.clone(), actions: shown::actions(&shown), decision, next })
    }
}

fn next(status: Status, decision: Option<&DecisionDocument>) -> String {
    match (status, decision) {
        (Status::Proposed, Some(decision)) => format!(
            "Nobody has decided yet: run no step of it. A person decides at {}, and only there: show them this link. Call \
             await_decision with decision_id {}.",
            decision.page, decision.decision_id
        ),
        (Status::Draft | Status::Proposed, _) => {
            "It is a draft: run no step of it. feedback says why it came back, if it did; change it and call propose_plan."
                .into()
        }
        (Status::Approved | Status::InProgress, _) => {
            "It is approved: before each step call request_confirmation with the step's tool and arguments, which is \
             accepted at once where the plan covers them, then begin_action, then do it, then report_outcome."
                .into()
        }
        (Status::Completed, _) => "Every step is done: nothing more of it may run.".into(),
        (Status::Cancelled | Status::Failed, _) => "It is over: nothing more of it may run.".into(),
    }
}
