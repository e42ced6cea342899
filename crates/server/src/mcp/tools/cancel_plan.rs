//! `cancel_plan`: `POST /mplp/v1/plans/{plan}/cancel` as a tool.

use super::told::PlanTold;
use crate::mcp::tool::{Call, Hints, Tool};
use countersign_engine::Refusal;
use countersign_protocol::mplp::MplpId;

pub(super) struct CancelPlan;

#[derive(Debug, serde::Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct CancelPlanArguments {
    /// The plan, which is a draft or runs.
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
    const DESCRIPTION: &'static str = "Give up a plan of yours that is a draft or runs: nothing more of it may run then. \
        While people are being asked about it, call withdraw_question with the decision_id instead.";
    const HINTS: Hints = Hints::Counts;

    async fn call(call: &Call, said: CancelPlanArguments) -> Result<PlanTold, Refusal> {
        let CancelPlanArguments { plan_id, reason } = said;
        call.engine().cancel_own_plan(&call.caller.at, &call.caller.agent, &plan_id, reason).await?;
        PlanTold::of(call, &plan_id).await
    }
}
