//! A clarification session from the submitted plan to its confirmation: gaps, answers, state, and its end.

use super::{caller::SessionAsker, documents};
use crate::{
    App,
    http::answer::{ErrorResponses, RefusalResponse},
    mplp::{denied::Denied, requests::MplpBody},
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
    post,
    path = "/v1/clarification/submit-clarification",
    tag = "clarifications",
    summary = "Find the gaps in a plan",
    request_body = CheckRequest,
    responses((status = 200, description = "needs_clarification with every open gap, or ready_to_proceed. The same plan in the same session gets the same answer until a gap is answered", body = CheckResponse), ErrorResponses),
    security(("bearer" = []))
)]
pub(crate) async fn submit(
    State(app): State<App>,
    AgentCaller { at, agent, .. }: AgentCaller,
    MplpBody(asked): MplpBody<CheckRequest>,
) -> Result<axum::Json<CheckResponse>, Denied> {
    Ok(axum::Json(app.engine.clarifications().clarify_check(&at, &agent, &asked).await?.response))
}

/// The agent's own answer to a gap (Clarification 6.2).
#[utoipa::path(
    post,
    path = "/v1/clarification/resolve-gap",
    tag = "clarifications",
    summary = "Answer a gap",
    request_body = ResolveRequest,
    responses((status = 200, description = "resolved with the accepted answer, or escalated: the gap stays open and a person is asked", body = ResolveResponse), ErrorResponses),
    security(("bearer" = []))
)]
pub(crate) async fn resolve(
    State(app): State<App>,
    AgentCaller { at, agent, .. }: AgentCaller,
    MplpBody(asked): MplpBody<ResolveRequest>,
) -> Result<axum::Json<ResolveResponse>, Denied> {
    Ok(axum::Json(app.engine.clarifications().clarify_resolve(&at, &agent, &asked).await?))
}

/// The open gaps.
#[utoipa::path(
    get,
    path = "/v1/clarification/list-gaps",
    tag = "clarifications",
    summary = "The open gaps of a session",
    params(("session_id" = String, Query, description = "session_id of the session")),
    responses((status = 200, description = "The open gaps, with the signed message", body = CheckResponse), ErrorResponses),
    security(("bearer" = []))
)]
pub(crate) async fn list_gaps(
    State(app): State<App>,
    AgentCaller { at, agent, .. }: AgentCaller,
    SessionId(id): SessionId,
) -> Result<axum::Json<CheckResponse>, RefusalResponse> {
    Ok(axum::Json(app.engine.clarifications().clarify_gaps(&at, &agent, &id).await?))
}

/// The progress of a session.
#[utoipa::path(
    get,
    path = "/v1/clarification/session-status",
    tag = "clarifications",
    summary = "The progress of a session",
    params(("session_id" = String, Query, description = "session_id of the session")),
    responses((status = 200, description = "Its state and its counts", body = StatusResponse), ErrorResponses),
    security(("bearer" = []))
)]
pub(crate) async fn status(
    State(app): State<App>,
    AgentCaller { at, agent, .. }: AgentCaller,
    SessionId(id): SessionId,
) -> Result<axum::Json<StatusResponse>, RefusalResponse> {
    Ok(axum::Json(app.engine.clarifications().clarify_status(&at, &agent, &id).await?))
}

/// Confirms a plan without open gaps (Clarification 5, W-16).
#[utoipa::path(
    post,
    path = "/v1/clarification/confirm-plan",
    tag = "clarifications",
    summary = "Confirm a plan without open gaps",
    request_body = SessionRequest,
    responses((status = 200, description = "plan_accepted with the plan and its attestation, or needs_clarification. A plan that people approve is proposed to them in the same step", body = ConfirmResponse), ErrorResponses),
    security(("bearer" = []))
)]
pub(crate) async fn confirm(
    State(app): State<App>,
    AgentCaller { at, agent, .. }: AgentCaller,
    MplpBody(asked): MplpBody<SessionRequest>,
) -> Result<axum::Json<ConfirmResponse>, Denied> {
    Ok(axum::Json(documents::confirmed(
        app.engine.clarifications().clarify_confirm(&at, &agent, &asked.session_id).await?,
    )))
}

/// Abandons a clarification session, by its agent or by a person concerned.
#[utoipa::path(
    post,
    path = "/v1/clarification/abandon",
    tag = "clarifications",
    summary = "Abandon a session: it blocks nothing any more, and its plan is never confirmed",
    description = "For the agent that submitted the plan, the person for whom it acts or who is responsible for it, and admins: by a key, a token, a subscriber token that may answer, or a sign-in session with X-CSRF-Token. An agent does not release gaps that a person must answer: until a person abandons the session as well, or it expires, irreversible calls that no person approved after the agent's abandonment are refused with clarification_required.",
    request_body = SessionRequest,
    responses((status = 200, description = "The state of the session; repeating the request changes nothing", body = StatusResponse), ErrorResponses),
    security(("session" = []), ("bearer" = []))
)]
pub(crate) async fn abandon(
    State(app): State<App>,
    asker: SessionAsker,
    MplpBody(asked): MplpBody<SessionRequest>,
) -> Result<axum::Json<StatusResponse>, Denied> {
    let by = asker.abandoning()?;
    Ok(axum::Json(app.engine.clarifications().clarify_abandon(&asker.at, by, &asked.session_id).await?))
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
