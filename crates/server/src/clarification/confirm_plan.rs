//! `POST /v1/clarification/confirm-plan`: confirms a plan without open gaps (Clarification 5, W-16).

use super::responses;
use crate::{
    App,
    mplp::{denied::Denied, requests::MplpBody},
    v1::AgentCaller,
};
use axum::extract::State;
use countersign_protocol::{
    aap::error::ErrorEnvelope,
    clarification::submission::{ConfirmResponse, SessionRequest},
};

#[utoipa::path(
    post,
    path = "/v1/clarification/confirm-plan",
    tag = "clarifications",
    summary = "Confirm a plan without open gaps",
    request_body = SessionRequest,
    responses((status = 200, description = "plan_accepted with the plan and its attestation, or needs_clarification. A plan that people approve is proposed to them in the same step", body = ConfirmResponse), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn post(
    State(app): State<App>,
    AgentCaller { at, agent, .. }: AgentCaller,
    MplpBody(asked): MplpBody<SessionRequest>,
) -> Result<axum::Json<ConfirmResponse>, Denied> {
    Ok(axum::Json(responses::confirmed(
        app.engine.clarifications().clarify_confirm(&at, &agent, &asked.session_id).await?,
    )))
}
