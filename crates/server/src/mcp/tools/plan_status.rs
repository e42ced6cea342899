//! `plan_status`: `GET /mplp/v1/plans/{plan}/actions` as a tool, with the question about the plan.

use super::told::PlanTold;
use crate::mcp::tool::{Call, Hints, Tool};
use countersign_engine::Refusal;
use countersign_protocol::mplp::MplpId;

pub(super) struct PlanStatus;

#[derive(Debug, serde::Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct PlanStatusArguments {
    /// As propose_plan was given it.
    plan_id: MplpId,
}

impl Tool for PlanStatus {
    type Arguments = PlanStatusArguments;
    type Answer = PlanTold;

    const NAME: &'static str = "plan_status";
    const TITLE: &'static str = "How a plan stands";
    const DESCRIPTION: &'static str = "How a plan of yours stands: whether it is approved, how far each step has come, \
        what is left of each step's yes, and the question about it. feedback says why a plan came back.";
    const HINTS: Hints = Hints::Reads;

    async fn call(call: &Call, asked: PlanStatusArguments) -> Result<PlanTold, Refusal> {
        PlanTold::of(call, &asked.plan_id).await
    }
}
