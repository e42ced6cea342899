//! `wwa_clarify_confirm`, also called `confirm_plan`: `POST /v1/clarification/confirm-plan` as a tool.

use crate::{
    clarification::responses,
    mcp::tool::{Hints, Tool, ToolCall},
};
use countersign_engine::Refusal;
use countersign_protocol::clarification::submission::{ConfirmResponse, SessionRequest};

pub(super) struct ClarifyConfirm;

impl Tool for ClarifyConfirm {
    type Arguments = SessionRequest;
    type Answer = ConfirmResponse;

    const NAME: &'static str = "wwa_clarify_confirm";
    const TITLE: &'static str = "Confirm a clarified plan";
    const DESCRIPTION: &'static str = "Confirm that the plan of a session is final, once every gap is answered. plan \
        is your plan with the accepted answers filled in, attestation proves them. If people must approve it, they are \
        asked now: call await_decision with decision_id.";
    const HINTS: Hints = Hints::Repeatable;
    const GENERATES: bool = true;

    async fn call(call: &ToolCall, asked: SessionRequest) -> Result<ConfirmResponse, Refusal> {
        let confirmed = call
            .engine()
            .clarifications()
            .clarify_confirm(&call.caller.at, &call.caller.agent, &asked.session_id)
            .await?;
        Ok(responses::confirmed(confirmed))
    }
}
