//! `wwa_clarify_check`: `POST /v1/clarification/submit-clarification` as a tool.

use crate::mcp::tool::{Hints, Tool, ToolCall};
use countersign_engine::Refusal;
use countersign_protocol::clarification::submission::{CheckRequest, CheckResponse};

pub(super) struct ClarifyCheck;

impl Tool for ClarifyCheck {
    type Arguments = CheckRequest;
    type Answer = CheckResponse;

    const NAME: &'static str = "wwa_clarify_check";
    const TITLE: &'static str = "Find the gaps in a plan";
    const DESCRIPTION: &'static str = "Find missing or ambiguous information in your plan, before you act on it. \
        needs_clarification lists gaps: answer each with wwa_clarify_resolve, and never guess. ready_to_proceed: call \
        wwa_clarify_confirm. An open gap blocks the operations that it names, also at the gateway. Keep session_id.";
    const HINTS: Hints = Hints::Repeatable;

    async fn call(call: &ToolCall, asked: CheckRequest) -> Result<CheckResponse, Refusal> {
        let asked = again(&asked)?;
        let gathered =
            call.engine().clarifications().clarify_check(&call.caller.at, &call.caller.agent, &asked).await?;
        Ok(gathered.response)
    }
}

/// Validated like a request body.
pub(super) fn again(asked: &CheckRequest) -> Result<CheckRequest, Refusal> {
    let value = serde_json::to_value(asked).map_err(|_| Refusal::Internal)?;
    CheckRequest::of_value(&value).map_err(|why| Refusal::invalid(why.to_string()))
}
