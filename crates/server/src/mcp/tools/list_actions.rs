//! `list_actions`: `GET /v1/actions` as a tool.

use crate::mcp::tool::{Hints, Tool, ToolCall};
use countersign_engine::Refusal;
use countersign_protocol::decisions::ActionsDocument;

pub(super) struct ListActions;

#[derive(Debug, serde::Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct ListActionsArguments {}

impl Tool for ListActions {
    type Arguments = ListActionsArguments;
    type Answer = ActionsDocument;

    const NAME: &'static str = "list_actions";
    const TITLE: &'static str = "List actions";
    const DESCRIPTION: &'static str = "The actions that you may name as tool in request_confirmation and in plans, \
        with their risk and reversibility.";
    const HINTS: Hints = Hints::Reads;

    async fn call(call: &ToolCall, _: ListActionsArguments) -> Result<ActionsDocument, Refusal> {
        Ok(call.engine().decisions().actions(&call.caller.at, &call.caller.agent))
    }
}
