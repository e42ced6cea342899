//! The tools for clarification sessions, as the endpoints of `/v1/clarification`.

use crate::{
    clarification::documents,
    mcp::tool::{Hints, Tool, ToolCall},
};
use countersign_engine::{ProjectReader, Refusal};
use countersign_protocol::clarification::{
    Audit,
    submission::{
        AttestResponse, CheckRequest, CheckResponse, ConfirmResponse, ResolveRequest, ResolveResponse,
        ScaffoldResponse, SessionRequest,
    },
};

pub(super) struct ClarifyCheck;

impl Tool for ClarifyCheck {
    type Arguments = CheckRequest;
    type Answer = CheckResponse;

    const NAME: &'static str = "wwa_clarify_check";
    const TITLE: &'static str = "Find the gaps in a plan";
    const DESCRIPTION: &'static str = "Find missing or ambiguous information in your plan, before you act on it. \
        needs_clarification lists gaps: answer each with wwa_clarify_resolve, and never guess. ready_to_proceed: call \
        wwa_clarify_confirm. An open gap blocks the operations that it names, also at the gateway. Keep session_id.";
    const HINTS: Hints = Hints::Repeatable;

    async fn call(call: &ToolCall, asked: CheckRequest) -> Result<CheckResponse, Refusal> {
        let asked = again(&asked)?;
        let gathered =
            call.engine().clarifications().clarify_check(&call.caller.at, &call.caller.agent, &asked).await?;
        Ok(gathered.response)
    }
}

/// Validated like a request body.
pub(super) fn again(asked: &CheckRequest) -> Result<CheckRequest, Refusal> {
    let value = serde_json::to_value(asked).map_err(|_| Refusal::Internal)?;
    CheckRequest::of_value(&value).map_err(|why| Refusal::invalid(why.to_string()))
}

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

pub(super) struct ClarifyConfirm;

impl Tool for ClarifyConfirm {
    type Arguments = SessionRequest;
    type Answer = ConfirmResponse;

    const NAME: &'static str = "wwa_clarify_confirm";
    const TITLE: &'static str = "Confirm a clarified plan";
    const DESCRIPTION: &'static str = "Confirm that the plan of a session is final, once every gap is answered. plan \
        is your plan with the accepted answers filled in, attestation proves them. If people must approve it, they are \
        asked now: call await_decision with decision_id.";
    const HINTS: Hints = Hints::Repeatable;
    const GENERATES: bool = true;

    async fn call(call: &ToolCall, asked: SessionRequest) -> Result<ConfirmResponse, Refusal> {
        let confirmed = call
            .engine()
            .clarifications()
            .clarify_confirm(&call.caller.at, &call.caller.agent, &asked.session_id)
            .await?;
        Ok(documents::confirmed(confirmed))
    }
}

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

pub(super) struct ScaffoldPlan;

impl Tool for ScaffoldPlan {
    type Arguments = CheckRequest;
    type Answer = ScaffoldResponse;

    const NAME: &'static str = "wwa_scaffold_plan";
    const TITLE: &'static str = "Get the accepted plan";
    const DESCRIPTION: &'static str = "The plan to follow: your plan with the accepted answers. needs_clarification \
        with gaps, and no plan, while a gap is open; ready_to_proceed until wwa_clarify_confirm was called. Follow no \
        other.";
    const HINTS: Hints = Hints::Repeatable;
    const GENERATES: bool = true;

    async fn call(call: &ToolCall, asked: CheckRequest) -> Result<ScaffoldResponse, Refusal> {
        let asked = again(&asked)?;
        Ok(documents::scaffolded(
            call.engine().clarifications().scaffold_plan(&call.caller.at, &call.caller.agent, &asked).await?,
            ClarifyConfirm::NAME,
        ))
    }
}

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
        Ok(documents::attested(attested, ClarifyConfirm::NAME))
    }
}
