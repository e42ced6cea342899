//! `POST /v1/clarification/attest`: a signed statement of the answers that a confirmed plan rests on (Clarification 8,
//! W-27).

use super::responses;
use crate::{
    App,
    mplp::{denied::Denied, requests::MplpBody},
    v1::AgentCaller,
};
use axum::extract::State;
use countersign_protocol::{
    aap::error::ErrorEnvelope,
    clarification::submission::{AttestResponse, SessionRequest},
};

#[utoipa::path(
    post,
    path = "/v1/clarification/attest",
    tag = "clarifications",
    summary = "Get the attestation of a confirmed plan",
    request_body = SessionRequest,
    responses((status = 200, description = "attested, ready_to_proceed if the plan only has to be confirmed, or needs_clarification", body = AttestResponse), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn post(
    State(app): State<App>,
    AgentCaller { at, agent, .. }: AgentCaller,
    MplpBody(asked): MplpBody<SessionRequest>,
) -> Result<axum::Json<AttestResponse>, Denied> {
    Ok(axum::Json(responses::attested(
        app.engine.clarifications().scaffold_attest(&at, &agent, &asked.session_id).await?,
        "confirm-plan",
    )))
}
