//! A clarification session from the submitted plan to its confirmation: gaps, answers, state, and its end.

use super::{caller::AbandonCaller, documents};
use crate::{
    App,
    http::answer::{ErrorResponses, JsonResult, RefusalResponse},
    mplp::requests::MplpBody,
    v1::AgentCaller,
};
use axum::extract::{FromRequestParts, Query, State};
use countersign_engine::Refusal;
use countersign_protocol::{
    clarification::submission::{
        CheckRequest, CheckResponse, ConfirmResponse, ResolveRequest, ResolveResponse, SessionRequest, StatusResponse,
    },
    mplp::MplpId,
};
use http::request::Parts;

/// Checks a plan for gaps (Clarification 6.1).
#[utoipa::path(
    post, path = "/v1/clarification/submit-clarification", tag = "clarifications", security(("bearer" = [])),
    request_body = CheckRequest,
    summary = "Find the gaps in a plan",
    responses((status = 200, description = "needs_clarification with every open gap, or ready_to_proceed. The same plan in the same session gets the same answer until a gap is answered", body = CheckResponse), ErrorResponses),
)]
pub(crate) async fn submit(
    caller: AgentCaller,
    MplpBody(request): MplpBody<CheckRequest>,
) -> JsonResult<CheckResponse> {
    Ok(axum::Json(caller.engine.clarifications().clarify_check(&caller.at, &caller.agent, &request).await?.response))
}

/// The agent's own answer to a gap (Clarification 6.2).
#[utoipa::path(
    post, path = "/v1/clarification/resolve-gap", tag = "clarifications", security(("bearer" = [])),
    request_body = ResolveRequest,
    summary = "Answer a gap",
    responses((status = 200, description = "resolved with the accepted answer, or escalated: the gap stays open and a person is asked", body = ResolveResponse), ErrorResponses),
)]
pub(crate) async fn resolve(
    caller: AgentCaller,
    MplpBody(request): MplpBody<ResolveRequest>,
) -> JsonResult<ResolveResponse> {
    Ok(axum::Json(caller.engine.clarifications().clarify_resolve(&caller.at, &caller.agent, &request).await?))
}

/// The open gaps.
#[utoipa::path(
    get, path = "/v1/clarification/list-gaps", tag = "clarifications", security(("bearer" = [])),
    summary = "The open gaps of a session",
    params(("session_id" = String, Query, description = "session_id of the session")),
    responses((status = 200, description = "The open gaps, with the signed message", body = CheckResponse), ErrorResponses),
)]
pub(crate) async fn list_gaps(caller: AgentCaller, SessionId(id): SessionId) -> JsonResult<CheckResponse> {
    Ok(axum::Json(caller.engine.clarifications().clarify_gaps(&caller.at, &caller.agent, &id).await?))
}

/// The progress of a session.
#[utoipa::path(
    get, path = "/v1/clarification/session-status", tag = "clarifications", security(("bearer" = [])),
    summary = "The progress of a session",
    params(("session_id" = String, Query, description = "session_id of the session")),
    responses((status = 200, description = "Its state and its counts", body = StatusResponse), ErrorResponses),
)]
pub(crate) async fn status(caller: AgentCaller, SessionId(id): SessionId) -> JsonResult<StatusResponse> {
    Ok(axum::Json(caller.engine.clarifications().clarify_status(&caller.at, &caller.agent, &id).await?))
}

/// Confirms a plan without open gaps (Clarification 5, W-16).
#[utoipa::path(
    post, path = "/v1/clarification/confirm-plan", tag = "clarifications", security(("bearer" = [])),
    request_body = SessionRequest,
    summary = "Confirm a plan without open gaps",
    responses((status = 200, description = "plan_accepted with the plan and its attestation, or needs_clarification. A plan that people approve is proposed to them in the same step", body = ConfirmResponse), ErrorResponses),
)]
pub(crate) async fn confirm(
    caller: AgentCaller,
    MplpBody(request): MplpBody<SessionRequest>,
) -> JsonResult<ConfirmResponse> {
    Ok(axum::Json(documents::confirmed(
        caller.engine.clarifications().clarify_confirm(&caller.at, &caller.agent, &request.session_id).await?,
    )))
}

/// Abandons a clarification session, by its agent or by a person concerned.
#[utoipa::path(
    post, path = "/v1/clarification/abandon", tag = "clarifications", security(("session" = []), ("bearer" = [])),
    request_body = SessionRequest,
    summary = "Abandon a session: it blocks nothing any more, and its plan is never confirmed",
    description = "For the agent that submitted the plan, the person for whom it acts or who is responsible for it, and admins: by a key, a token, a subscriber token that may answer, or a sign-in session with X-CSRF-Token. An agent does not release gaps that a person must answer: until a person abandons the session as well, or it expires, irreversible calls that no person approved after the agent's abandonment are refused with clarification_required.",
    responses((status = 200, description = "The state of the session; repeating the request changes nothing", body = StatusResponse), ErrorResponses),
)]
pub(crate) async fn abandon(
    State(app): State<App>,
    caller: AbandonCaller,
    MplpBody(request): MplpBody<SessionRequest>,
) -> JsonResult<StatusResponse> {
    let by = caller.abandoning()?;
    Ok(axum::Json(app.engine.clarifications().clarify_abandon(&caller.at, by, &request.session_id).await?))
}

/// The clarification session in `?session_id=`. Nothing is normalised (W-29).
pub(crate) struct SessionId(pub(super) MplpId);

#[derive(serde::Deserialize)]
struct SessionQuery {
    session_id: Option<String>,
}

impl FromRequestParts<App> for SessionId {
    type Rejection = RefusalResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, RefusalResponse> {
        let asked = Query::<SessionQuery>::from_request_parts(parts, app).await;
        let Query(asked) = asked.map_err(|_| Refusal::invalid("the query could not be read"))?;
        let text = asked.session_id.ok_or_else(|| Refusal::invalid("session_id: is required"))?;
        Ok(Self(MplpId::parse(&text).map_err(|why| Refusal::invalid(format!("session_id: {why}")))?))
    }
}
