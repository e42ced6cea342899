//! `wwa_scaffold_plan`: `POST /v1/clarification/scaffold-plan` as a tool. Never a part of a plan.

use super::{wwa_clarify_check::again, wwa_clarify_confirm::ClarifyConfirm};
use crate::{
    clarification::responses,
    mcp::tool::{Hints, Tool, ToolCall},
};
use countersign_engine::Refusal;
use countersign_protocol::clarification::submission::{CheckRequest, ScaffoldResponse};

pub(super) struct ScaffoldPlan;

impl Tool for ScaffoldPlan {
    type Arguments = CheckRequest;
    type Answer = ScaffoldResponse;

    const NAME: &'static str = "wwa_scaffold_plan";
    const TITLE: &'static str = "Get the accepted plan";
    const DESCRIPTION: &'static str = "The plan to follow: your plan with the accepted answers. needs_clarification \
        with gaps, and no plan, while a gap is open; ready_to_proceed until wwa_clarify_confirm was called. Follow no \
        other.";
    const HINTS: Hints = Hints::Repeatable;
    const GENERATES: bool = true;

    async fn call(call: &ToolCall, asked: CheckRequest) -> Result<ScaffoldResponse, Refusal> {
        let asked = again(&asked)?;
        Ok(responses::scaffolded(
            call.engine().clarifications().scaffold_plan(&call.caller.at, &call.caller.agent, &asked).await?,
            ClarifyConfirm::NAME,
        ))
    }
}
