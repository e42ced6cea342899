//! `wwa_clarify_resolve`: `POST /v1/clarification/resolve-gap` as a tool. The answer is the agent's own.

use crate::mcp::tool::{Hints, Tool, ToolCall};
use countersign_engine::Refusal;
use countersign_protocol::clarification::submission::{ResolveRequest, ResolveResponse};

pub(super) struct ClarifyResolve;

impl Tool for ClarifyResolve {
    type Arguments = ResolveRequest;
    type Answer = ResolveResponse;

    const NAME: &'static str = "wwa_clarify_resolve";
    const TITLE: &'static str = "Answer a gap";
    const DESCRIPTION: &'static str = "Answer one gap of a session, only if you were told the answer or know it for \
        certain; it is recorded as your own answer. A warning may be answered with accept. escalated means that a \
        person must answer and has been asked on page; wwa_clarify_check shows when they answered. If you do not know, \
        send an empty answer: then a person is asked.";
    const HINTS: Hints = Hints::Repeatable;

    async fn call(call: &ToolCall, asked: ResolveRequest) -> Result<ResolveResponse, Refusal> {
        let value = serde_json::to_value(&asked).map_err(|_| Refusal::Internal)?;
        let asked = ResolveRequest::of_value(&value).map_err(|why| Refusal::invalid(why.to_string()))?;
        call.engine().clarifications().clarify_resolve(&call.caller.at, &call.caller.agent, &asked).await
    }
}
