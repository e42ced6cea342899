//! `begin_action`: `POST /v1/decisions/{decision}/claim` as a tool. It is separate from `await_decision`, because a
//! claim uses up the allowance and waiting must not.

use super::told::DecisionTold;
use crate::mcp::tool::{Call, Hints, Tool};
use countersign_engine::Refusal;
use countersign_protocol::decisions::ClaimRequest;
use serde_json::{Map, Value};

pub(super) struct BeginAction;

#[derive(Debug, serde::Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct BeginActionArguments {
    /// Of the decision that was accepted.
    decision_id: String,
    /// The tool that was named in the question.
    #[serde(default)]
    tool: Option<String>,
    /// The exact arguments of the upcoming call.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    arguments: Option<Map<String, Value>>,
    /// In place of both, where the question named no tool: the decision's digest.
    #[serde(default)]
    digest: Option<String>,
}

impl Tool for BeginAction {
    type Arguments = BeginActionArguments;
    type Answer = DecisionTold;

    const NAME: &'static str = "begin_action";
    const TITLE: &'static str = "Begin what was allowed";
    const DESCRIPTION: &'static str = "Spend an accepted decision, right before you do what it allows. Say the tool and the arguments \
        again, exactly as you will use them: a yes to one thing cannot be spent on another, and mostly only \
        once. If this is refused, or if you get no answer, do not do it. Then call report_outcome.";
    const HINTS: Hints = Hints::Counts;

    async fn call(call: &Call, said: BeginActionArguments) -> Result<DecisionTold, Refusal> {
        let BeginActionArguments { decision_id, tool, arguments, digest } = said;
        let claim = ClaimRequest { tool, arguments, digest };
        let claimed = call.engine().claim(&call.caller.at, &call.caller.agent, &decision_id, &claim).await?;
        Ok(claimed.into())
    }
}
