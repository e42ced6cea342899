//! `withdraw_question`: `POST /v1/decisions/{decision}/withdraw` as a tool.

use super::responses::DecisionTold;
use crate::mcp::tool::{Hints, Tool, ToolCall};
use countersign_engine::Refusal;
use countersign_protocol::decisions::WithdrawRequest;

pub(super) struct WithdrawQuestion;

#[derive(Debug, serde::Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct WithdrawQuestionArguments {
    /// The pending question.
    decision_id: String,
    /// Why, for the people who were asked.
    #[serde(default)]
    reason: Option<String>,
}

impl Tool for WithdrawQuestion {
    type Arguments = WithdrawQuestionArguments;
    type Answer = DecisionTold;

    const NAME: &'static str = "withdraw_question";
    const TITLE: &'static str = "Withdraw a question";
    const DESCRIPTION: &'static str = "Withdraw a pending question of yours: a confirmation, a clarification, or the \
        one about a proposed plan, which becomes a draft again.";
    const HINTS: Hints = Hints::Counts;

    async fn call(call: &ToolCall, said: WithdrawQuestionArguments) -> Result<DecisionTold, Refusal> {
        let WithdrawQuestionArguments { decision_id, reason } = said;
        let reason = WithdrawRequest { reason };
        let withdrawn =
            call.engine().decisions().withdraw(&call.caller.at, &call.caller.agent, &decision_id, &reason).await?;
        Ok(withdrawn.into())
    }
}
