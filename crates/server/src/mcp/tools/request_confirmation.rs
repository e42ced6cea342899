//! `request_confirmation`: `POST /v1/confirmations` as a tool.

use super::responses::DecisionTold;
use crate::{
    mcp::tool::{Hints, Tool, ToolCall},
    v1::without,
};
use countersign_engine::Refusal;
use countersign_protocol::decisions::ConfirmationRequest;

pub(super) struct RequestConfirmation;

impl Tool for RequestConfirmation {
    type Arguments = ConfirmationRequest;
    type Answer = DecisionTold;

    const NAME: &'static str = "request_confirmation";
    const TITLE: &'static str = "Request confirmation";
    const DESCRIPTION: &'static str = "Ask a person to approve one exactly defined action, before you do it: anything \
        that is irreversible, costs money, or speaks for a person. Name the tool and its exact arguments: an approval \
        covers these and no others. It returns at once, nearly always pending: show the person the link in page, where \
        they decide, then call await_decision. Requesting the same again returns the same question.";
    const HINTS: Hints = Hints::Repeatable;

    async fn call(call: &ToolCall, question: ConfirmationRequest) -> Result<DecisionTold, Refusal> {
        without(&question.problems())?;
        let raised =
            call.engine().decisions().raise_confirmation(&call.caller.at, &call.caller.agent, &question).await?;
        Ok(raised.document.into())
    }
}
