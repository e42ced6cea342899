//! `plan_status`: `GET /mplp/v1/plans/{plan}/actions` as a tool, with the question about the plan.

use super::responses::PlanTold;
use crate::mcp::tool::{Hints, Tool, ToolCall};
use countersign_engine::Refusal;
use countersign_protocol::mplp::MplpId;

pub(super) struct PlanStatus;

#[derive(Debug, serde::Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct PlanStatusArguments {
    /// The plan_id given to propose_plan.
    plan_id: MplpId,
}

impl Tool for PlanStatus {
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
