//! `await_decision`: `GET /v1/decisions/{decision}?wait=` as a tool.

use super::responses::DecisionTold;
use crate::{
    mcp::tool::{Hints, Tool, ToolCall},
    v1::decisions::LONGEST_WAIT,
};
use countersign_engine::Refusal;
use countersign_protocol::decisions::DecisionDocument;
use std::time::Duration;

const USUAL_WAIT: Duration = Duration::from_secs(25);

pub(super) struct AwaitDecision;

#[derive(Debug, serde::Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct AwaitDecisionArguments {
    /// The decision_id from the tool that asked.
    decision_id: String,
    /// How many seconds to wait for a decision; default 25. 0 does not wait.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 55)]
    wait_seconds: Option<u32>,
}

impl Tool for AwaitDecision {
    type Arguments = AwaitDecisionArguments;
    type Answer = DecisionTold;

    const NAME: &'static str = "await_decision";
    const TITLE: &'static str = "Wait for a decision";
    const DESCRIPTION: &'static str = "Wait until a person has decided about request_confirmation or propose_plan, or \
        answered request_clarification. pending is neither an approval nor a rejection: call this again, now or later. \
        On accepted call begin_action, on answered follow response, on anything else do not do it: reason may explain \
        it. Neither you nor your user can decide here: people decide on the page linked in page.";
    const HINTS: Hints = Hints::Reads;

    async fn call(call: &ToolCall, asked: AwaitDecisionArguments) -> Result<DecisionTold, Refusal> {
        let wait = asked.wait_seconds.map_or(USUAL_WAIT, |seconds| Duration::from_secs(seconds.into()));
        if wait > LONGEST_WAIT {
            return Err(Refusal::invalid("wait_seconds: must be a whole number from 0 to 55"));
        }
        Ok(waited(call, &asked.decision_id, wait).await?.into())
    }
}

async fn waited(call: &ToolCall, id: &str, wait: Duration) -> Result<DecisionDocument, Refusal> {
    let decisions = call.engine().decisions();
    let (at, agent, token) = (&call.caller.at, &call.caller.agent, &call.caller.token);
    if wait.is_zero() {
        return decisions.decision(at, agent, id).await;
    }
    let mut connection = call.connection.clone();
    // A node that stops answers its waiters with the current state; they ask again, here or at another node.
    tokio::select! {
        settled = decisions.await_decision(at, token, id, wait) => settled,
        () = connection.is_to_end() => decisions.decision(at, agent, id).await,
    }
}
