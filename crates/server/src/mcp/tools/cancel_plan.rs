//! `cancel_plan`: `POST /mplp/v1/plans/{plan}/cancel` as a tool.

use super::responses::PlanTold;
use crate::mcp::tool::{Hints, Tool, ToolCall};
use countersign_engine::Refusal;
use countersign_protocol::mplp::MplpId;

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
