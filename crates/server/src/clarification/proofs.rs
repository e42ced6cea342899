//! The results of a session, signed or accepted as a whole: plan, attestation, chain and handoff.

use super::{caller::AuditReader, documents, sessions::SessionId};
use crate::{
    App,
    http::answer::{ErrorResponses, JsonResult},
    mplp::requests::MplpBody,
    v1::AgentCaller,
};
use axum::extract::State;
use countersign_protocol::clarification::{
    Audit, Handoff,
    submission::{AttestResponse, CheckRequest, ScaffoldResponse, SessionRequest},
};

/// The whole plan or none of it (Clarification 8).
#[utoipa::path(
    post, path = "/v1/clarification/scaffold-plan", tag = "clarifications", security(("bearer" = [])),
    request_body = CheckRequest,
    summary = "Get the plan, if it is clear and confirmed",
    responses((status = 200, description = "plan_accepted with the whole plan, ready_to_proceed if it only has to be confirmed, or needs_clarification. Never a part of the plan", body = ScaffoldResponse), ErrorResponses),
)]
pub(crate) async fn scaffold_plan(
    caller: AgentCaller,
    MplpBody(request): MplpBody<CheckRequest>,
) -> JsonResult<ScaffoldResponse> {
    Ok(axum::Json(documents::scaffolded(
        caller.engine.clarifications().scaffold_plan(&caller.at, &caller.agent, &request).await?,
        "confirm-plan",
    )))
}

/// A signed statement of the answers that a confirmed plan rests on (Clarification 8, W-27).
#[utoipa::path(
    post, path = "/v1/clarification/attest", tag = "clarifications", security(("bearer" = [])),
    request_body = SessionRequest,
    summary = "Get the attestation of a confirmed plan",
    responses((status = 200, description = "attested, ready_to_proceed if the plan only has to be confirmed, or needs_clarification", body = AttestResponse), ErrorResponses),
)]
pub(crate) async fn attest(
    caller: AgentCaller,
    MplpBody(request): MplpBody<SessionRequest>,
) -> JsonResult<AttestResponse> {
    Ok(axum::Json(documents::attested(
        caller.engine.clarifications().scaffold_attest(&caller.at, &caller.agent, &request.session_id).await?,
        "confirm-plan",
    )))
}

/// The document with which another agent continues (Clarification 9, W-28).
#[utoipa::path(
    get, path = "/v1/clarification/handoff", tag = "clarifications", security(("bearer" = [])),
    summary = "The handoff to another agent, with all questions and answers",
    params(("session_id" = String, Query, description = "session_id of the session")),
    responses((status = 200, description = "Signed, with the whole record; with the plan once it is confirmed", body = Handoff), ErrorResponses),
)]
pub(crate) async fn handoff(caller: AgentCaller, SessionId(id): SessionId) -> JsonResult<Handoff> {
    Ok(axum::Json(caller.engine.clarifications().clarify_handoff(&caller.at, &caller.agent, &id).await?))
}

// All questions and answers of a session, verifiable offline (Clarification 6.3). For its agent, the person
// concerned, auditors and admins.
#[utoipa::path(
    get, path = "/v1/clarification/audit", tag = "clarifications", security(("session" = []), ("bearer" = [])),
    summary = "All questions and answers of a session",
    description = "For the agent of the session, the person for whom it acts, auditors and admins of the project: by a \
                   key, a token, a subscriber token or a session.",
    params(("session_id" = String, Query, description = "session_id of the session")),
    responses((status = 200, description = "The chain in both views of the protocol, with its plans", body = Audit), ErrorResponses),
)]
pub(crate) async fn audit(
    State(app): State<App>,
    AuditReader { at, reader }: AuditReader,
    SessionId(id): SessionId,
) -> JsonResult<Audit> {
    Ok(axum::Json(app.engine.clarifications().clarify_audit(&at, &reader, &id).await?))
}
