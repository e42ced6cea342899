//! `POST /v1/clarification/attest`: a signed statement of the answers that a confirmed plan rests on (Clarification 8,
//! W-27).

use super::told;
use crate::{
    App,
    mplp::{denied::Denied, sent::Sent},
    v1::Caller,
};
use axum::extract::State;
use countersign_protocol::{
    aap::error::Envelope,
    clarification::submission::{AttestResponse, SessionRequest},
};

#[utoipa::path(
    post,
    path = "/v1/clarification/attest",
    tag = "clarifications",
    summary = "Get the attestation of a confirmed plan",
    request_body = SessionRequest,
    responses((status = 200, description = "attested, ready_to_proceed if the plan only has to be confirmed, or needs_clarification", body = AttestResponse), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = Envelope), (status = "5XX", description = "Server error", body = Envelope)),
    security(("bearer" = []))
)]
pub(crate) async fn post(
    State(app): State<App>,
    Caller { at, agent, .. }: Caller,
    Sent(asked): Sent<SessionRequest>,
) -> Result<axum::Json<AttestResponse>, Denied> {
    Ok(axum::Json(told::attested(app.engine.scaffold_attest(&at, &agent, &asked.session_id).await?, "confirm-plan")))
}
