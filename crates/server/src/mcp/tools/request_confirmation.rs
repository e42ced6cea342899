//! `request_confirmation`: `POST /v1/confirmations` as a tool.

use super::told::DecisionTold;
use crate::{
    mcp::tool::{Call, Hints, Tool},
    v1::without,
};
use countersign_engine::Refusal;
use countersign_protocol::decisions::ConfirmationRequest;

pub(super) struct RequestConfirmation;

impl Tool for RequestConfirmation {
    type Arguments = ConfirmationRequest;
    type Answer = DecisionTold;

    const NAME: &'static str = "request_confirmation";
    const TITLE: &'static str = "Ask a person";
    const DESCRIPTION: &'static str = "Ask a person whether you may do one exactly defined thing, before you do it: anything that cannot be \
        undone, costs money, or speaks for somebody. Name the tool and its exact arguments: a yes is for \
        these and no others. It answers at once, nearly always pending: show the person the link in page, \
        where they decide, then call await_decision. Asking the same again returns the same question.";
    const HINTS: Hints = Hints::Repeatable;

    async fn call(call: &Call, question: ConfirmationRequest) -> Result<DecisionTold, Refusal> {
        without(&question.problems())?;
        let raised = call.engine().raise_confirmation(&call.caller.at, &call.caller.agent, &question).await?;
        Ok(raised.document.into())
    }
}
