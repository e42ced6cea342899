//! `report_step`: `POST /mplp/v1/plans/{plan}/steps/{step}` as a tool.

use super::responses::PlanTold;
use crate::mcp::tool::{Hints, Tool, ToolCall};
use countersign_engine::Refusal;
use countersign_protocol::mplp::{MplpId, StepReport, StepStatus};

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
