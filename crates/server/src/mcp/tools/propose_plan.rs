//! `propose_plan`: `POST /mplp/v1/plans` and `POST /mplp/v1/plans/{plan}/propose` as one tool.

use crate::mcp::tool::{Hints, Tool, ToolCall};
use countersign_engine::{Proposal, RaisedDecision, Refusal, mplp_views::confirm};
use countersign_protocol::{
    decisions::DecisionDocument,
    mplp::{MplpId, Plan, PlanSubmission, StepAction},
};
use std::collections::BTreeMap;

pub(super) struct ProposePlan;

#[derive(Debug, serde::Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct ProposePlanArguments {
    /// An MPLP Plan; every id is a UUID (version 4) of your own choosing.
    plan: Plan,
    /// The call of each step, by step_id: a tool of the project with its arguments, or a route. A step without one is
    /// your own work.
    #[serde(default)]
    actions: BTreeMap<MplpId, StepAction>,
    /// How long the plan may run once it is approved.
    #[serde(default)]
    lasts_seconds: Option<i64>,
    /// A role of your own to ask under; the first if absent.
    #[serde(default)]
    requested_by_role: Option<String>,
    /// The reason, for the people deciding.
    #[serde(default)]
    reason: Option<String>,
    /// How long people have to answer.
    #[serde(default)]
    timeout_seconds: Option<i64>,
}

#[derive(Debug, serde::Serialize, utoipa::ToSchema)]
pub(in crate::mcp) struct PlanProposed {
    plan_id: MplpId,
    /// The Confirm of the question, by its MPLP name.
    confirm_id: MplpId,
    /// The question that people are asked.
    decision: DecisionDocument,
    /// The next step, in words.
    next: String,
}

impl Tool for ProposePlan {
    type Arguments = ProposePlanArguments;
    type Answer = PlanProposed;

    const NAME: &'static str = "propose_plan";
    const TITLE: &'static str = "Propose a plan";
    const DESCRIPTION: &'static str = "Have a plan of several steps approved once, instead of asking for each. It is a \
        draft until a person approves it on the page linked in decision.page: show them the link, and call \
        await_decision with decision.decision_id. Then call request_confirmation before each step that runs a tool: \
        calls that the plan covers are accepted at once. A returned plan can be changed and proposed again.";
    const HINTS: Hints = Hints::Counts;
    const GENERATES: bool = true;

    async fn call(call: &ToolCall, said: ProposePlanArguments) -> Result<PlanProposed, Refusal> {
        let (at, agent) = (&call.caller.at, &call.caller.agent);
        let ask = Proposal {
            requested_by_role: said.requested_by_role.clone(),
            reason: said.reason.clone(),
            timeout_s: said.timeout_seconds,
            ..Proposal::default()
        };
        let plan = call.engine().plans().write_plan(at, agent, &submission(said)?).await?;
        let raised = call.engine().plans().propose_plan(at, agent, &plan.id, &ask).await?;
        Ok(told(plan.id, raised))
    }
}

/// Validated like a request body: size, steps, dependencies and actions.
fn submission(said: ProposePlanArguments) -> Result<PlanSubmission, Refusal> {
    let ProposePlanArguments { plan, actions, lasts_seconds, .. } = said;
    let submission = PlanSubmission { plan, actions, lasts_seconds };
    let bytes = serde_json::to_vec(&submission).map_err(|_| Refusal::Internal)?;
    PlanSubmission::read(&bytes).map_err(|why| Refusal::invalid(why.to_string()))
}

fn told(plan_id: MplpId, raised: RaisedDecision) -> PlanProposed {
    let next = format!(
        "The plan is proposed, and nobody has decided yet: run no step of it. A person decides at {}, and only there: \
         show them this link. Call await_decision with decision_id {}; plan_status shows the status of the plan.",
        raised.document.page, raised.document.decision_id
    );
    PlanProposed { plan_id, confirm_id: confirm::confirm_id(&raised.decision), decision: raised.document, next }
}
