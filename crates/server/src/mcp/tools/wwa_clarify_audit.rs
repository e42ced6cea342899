//! `wwa_clarify_audit`: `GET /v1/clarification/audit` as a tool.

use crate::mcp::tool::{Hints, Tool, ToolCall};
use countersign_engine::{ProjectReader, Refusal};
use countersign_protocol::clarification::{Audit, submission::SessionRequest};

pub(super) struct ClarifyAudit;

impl Tool for ClarifyAudit {
    type Arguments = SessionRequest;
    type Answer = Audit;

    const NAME: &'static str = "wwa_clarify_audit";
    const TITLE: &'static str = "The record of a session";
    const DESCRIPTION: &'static str = "All questions and answers of a session, signed: clarification_chain for \
        reading, record for verifying, offline with `countersign clarify verify`. Pass it on to the agent that \
        continues your work.";
    const HINTS: Hints = Hints::Reads;

    async fn call(call: &ToolCall, asked: SessionRequest) -> Result<Audit, Refusal> {
        let reader = ProjectReader::Agent(Box::new(call.caller.agent.clone()));
        call.engine().clarifications().clarify_audit(&call.caller.at, &reader, &asked.session_id).await
    }
}
