//! The tools for plans, as the endpoints of `/mplp/v1/plans`.

use super::next;
use crate::{
    mcp::tool::{Hints, Tool, ToolCall},
    mplp::responses,
};
use countersign_engine::{ProjectReader, Proposal, RaisedDecision, Refusal, mplp_views::confirm};
use countersign_protocol::{
    decisions::DecisionDocument,
    mplp::{MplpId, Plan, PlanActions, PlanStatus, PlanSubmission, StepAction, StepReport, StepStatus},
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
        Ok(proposed(plan.id, raised))
    }
}

/// Validated like a request body: size, steps, dependencies and actions.
fn submission(said: ProposePlanArguments) -> Result<PlanSubmission, Refusal> {
    let ProposePlanArguments { plan, actions, lasts_seconds, .. } = said;
    let submission = PlanSubmission { plan, actions, lasts_seconds };
    let bytes = serde_json::to_vec(&submission).map_err(|_| Refusal::Internal)?;
    PlanSubmission::read(&bytes).map_err(|why| Refusal::invalid(why.to_string()))
}

fn proposed(plan_id: MplpId, raised: RaisedDecision) -> PlanProposed {
    let next = format!(
        "The plan is proposed, and nobody has decided yet: run no step of it. A person decides at {}, and only there: \
         show them this link. Call await_decision with decision_id {}; plan_status shows the status of the plan.",
        raised.document.page, raised.document.decision_id
    );
    PlanProposed { plan_id, confirm_id: confirm::confirm_id(&raised.decision), decision: raised.document, next }
}

pub(super) struct ReadPlanStatus;

#[derive(Debug, serde::Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct PlanStatusArguments {
    /// The plan_id given to propose_plan.
    plan_id: MplpId,
}

impl Tool for ReadPlanStatus {
    type Arguments = PlanStatusArguments;
    type Answer = PlanTold;

    const NAME: &'static str = "plan_status";
    const TITLE: &'static str = "Status of a plan";
    const DESCRIPTION: &'static str = "The status of a plan of yours: its approval, the progress and remaining uses of \
        each step, and the question about it. feedback has the reason why a plan was returned.";
    const HINTS: Hints = Hints::Reads;

    async fn call(call: &ToolCall, asked: PlanStatusArguments) -> Result<PlanTold, Refusal> {
        PlanTold::of(call, &asked.plan_id).await
    }
}

pub(super) struct ReportStep;

#[derive(Debug, serde::Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct ReportStepArguments {
    /// The plan, which must be approved.
    plan_id: MplpId,
    /// The step, by its step_id in the plan.
    step_id: MplpId,
    /// Its progress.
    status: StepStatus,
    /// The reason for failed, blocked or skipped, in words for a person.
    #[serde(default)]
    reason: Option<String>,
}

impl Tool for ReportStep {
    type Arguments = ReportStepArguments;
    type Answer = PlanTold;

    const NAME: &'static str = "report_step";
    const TITLE: &'static str = "Report a step";
    const DESCRIPTION: &'static str = "Report the progress of a step of an approved plan that you do yourself: \
        in_progress when you begin it, then completed, failed, blocked or skipped. A step that runs a tool progresses \
        by begin_action and report_outcome instead. Its dependencies must be completed first.";
    const HINTS: Hints = Hints::Counts;

    async fn call(call: &ToolCall, said: ReportStepArguments) -> Result<PlanTold, Refusal> {
        let ReportStepArguments { plan_id, step_id, status, reason } = said;
        let report = StepReport { status, reason };
        call.engine().plans().report_step(&call.caller.at, &call.caller.agent, &plan_id, &step_id, &report).await?;
        PlanTold::of(call, &plan_id).await
    }
}

pub(super) struct CancelPlan;

#[derive(Debug, serde::Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct CancelPlanArguments {
    /// The plan: a draft or running.
    plan_id: MplpId,
    /// Why, for the people who approved it.
    #[serde(default)]
    reason: Option<String>,
}

impl Tool for CancelPlan {
    type Arguments = CancelPlanArguments;
    type Answer = PlanTold;

    const NAME: &'static str = "cancel_plan";
    const TITLE: &'static str = "Cancel a plan";
    const DESCRIPTION: &'static str = "Cancel a plan of yours that is a draft or running: nothing more of it may run \
        then. While the question about it is pending, call withdraw_question with the decision_id instead.";
    const HINTS: Hints = Hints::Counts;

    async fn call(call: &ToolCall, said: CancelPlanArguments) -> Result<PlanTold, Refusal> {
        let CancelPlanArguments { plan_id, reason } = said;
        call.engine().plans().cancel_own_plan(&call.caller.at, &call.caller.agent, &plan_id, reason).await?;
        PlanTold::of(call, &plan_id).await
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
