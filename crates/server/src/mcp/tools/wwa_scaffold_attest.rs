//! `wwa_scaffold_attest`: `POST /v1/clarification/attest` as a tool.

use super::wwa_clarify_confirm::ClarifyConfirm;
use crate::{
    clarification::responses,
    mcp::tool::{Hints, Tool, ToolCall},
};
use countersign_engine::Refusal;
use countersign_protocol::clarification::submission::{AttestResponse, SessionRequest};

pub(super) struct ScaffoldAttest;

impl Tool for ScaffoldAttest {
    type Arguments = SessionRequest;
    type Answer = AttestResponse;

    const NAME: &'static str = "wwa_scaffold_attest";
    const TITLE: &'static str = "Get the attestation";
    const DESCRIPTION: &'static str = "The signed statement that every gap of a session was answered before you \
        continued. needs_clarification while any gap is open, also a warning, and ready_to_proceed until \
        wwa_clarify_confirm was called.";
    const HINTS: Hints = Hints::Reads;
    const GENERATES: bool = true;

    async fn call(call: &ToolCall, asked: SessionRequest) -> Result<AttestResponse, Refusal> {
        let attested = call
            .engine()
            .clarifications()
            .scaffold_attest(&call.caller.at, &call.caller.agent, &asked.session_id)
            .await?;
        Ok(responses::attested(attested, ClarifyConfirm::NAME))
    }
}
