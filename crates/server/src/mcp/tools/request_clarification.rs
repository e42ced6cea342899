//! `request_clarification`: `POST /v1/clarifications` as a tool.

use super::responses::DecisionTold;
use crate::{
    mcp::tool::{Hints, Tool, ToolCall},
    v1::without,
};
use countersign_engine::Refusal;
use countersign_protocol::decisions::ClarificationRequest;

pub(super) struct RequestClarification;

impl Tool for RequestClarification {
    type Arguments = ClarificationRequest;
    type Answer = DecisionTold;

    const NAME: &'static str = "request_clarification";
    const TITLE: &'static str = "Ask a question";
    const DESCRIPTION: &'static str = "Ask a person for missing information, instead of guessing: free text, yes or \
        no, a number, or one of several choices. It returns at once with a decision_id; show the person the link in \
        page, and call await_decision: response is their answer. It permits nothing: for that call \
        request_confirmation.";
    const HINTS: Hints = Hints::Repeatable;

    async fn call(call: &ToolCall, question: ClarificationRequest) -> Result<DecisionTold, Refusal> {
        without(&question.problems())?;
        let raised =
            call.engine().decisions().raise_clarification(&call.caller.at, &call.caller.agent, &question).await?;
        Ok(raised.document.into())
    }
}
