//! `POST /v1/clarification/resolve-gap`: the agent's own answer to a gap (Clarification 6.2).

use crate::{
    App,
    mplp::{denied::Denied, requests::MplpBody},
    v1::AgentCaller,
};
use axum::extract::State;
use countersign_protocol::{
    aap::error::ErrorEnvelope,
    clarification::submission::{ResolveRequest, ResolveResponse},
};

#[utoipa::path(
    post,
    path = "/v1/clarification/resolve-gap",
    tag = "clarifications",
    summary = "Answer a gap",
    request_body = ResolveRequest,
    responses((status = 200, description = "resolved with the accepted answer, or escalated: the gap stays open and a person is asked", body = ResolveResponse), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn post(
    State(app): State<App>,
    AgentCaller { at, agent, .. }: AgentCaller,
    MplpBody(asked): MplpBody<ResolveRequest>,
) -> Result<axum::Json<ResolveResponse>, Denied> {
    Ok(axum::Json(app.engine.clarifications().clarify_resolve(&at, &agent, &asked).await?))
}
