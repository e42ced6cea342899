//! `begin_action`: `POST /v1/decisions/{decision}/claim` as a tool. It is separate from `await_decision`, because a
//! claim uses up the allowance and waiting must not.

use super::responses::DecisionTold;
use crate::mcp::tool::{Hints, Tool, ToolCall};
use countersign_engine::Refusal;
use countersign_protocol::decisions::ClaimRequest;
use serde_json::{Map, Value};

pub(super) struct BeginAction;

#[derive(Debug, serde::Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct BeginActionArguments {
    /// The accepted decision.
    decision_id: String,
    /// The tool named in the question.
    #[serde(default)]
    tool: Option<String>,
    /// The exact arguments of the upcoming call.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    arguments: Option<Map<String, Value>>,
    /// Instead of both, if the question named no tool: the decision's digest.
    #[serde(default)]
    digest: Option<String>,
}

impl Tool for BeginAction {
    type Arguments = BeginActionArguments;
    type Answer = DecisionTold;

    const NAME: &'static str = "begin_action";
    const TITLE: &'static str = "Begin an approved action";
    const DESCRIPTION: &'static str = "Claim an accepted decision, right before you act. Repeat the tool and the \
        arguments exactly as you will use them: an approval of one call cannot be claimed for another, and usually \
        only once. If this is refused, or if you get no response, do not act. Then call report_outcome.";
    const HINTS: Hints = Hints::Counts;

    async fn call(call: &ToolCall, said: BeginActionArguments) -> Result<DecisionTold, Refusal> {
        let BeginActionArguments { decision_id, tool, arguments, digest } = said;
        let claim = ClaimRequest { tool, arguments, digest };
        let claimed =
            call.engine().decisions().claim(&call.caller.at, &call.caller.agent, &decision_id, &claim).await?;
        Ok(claimed.into())
    }
}
