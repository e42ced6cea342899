//! `POST /v1/clarification/abandon`: abandons a clarification session, by its agent or by a person concerned.

use super::caller::SessionAsker;
use crate::{
    App,
    mplp::{denied::Denied, requests::MplpBody},
};
use axum::extract::State;
use countersign_protocol::{
    aap::error::ErrorEnvelope,
    clarification::submission::{SessionRequest, StatusResponse},
};

#[utoipa::path(
    post,
    path = "/v1/clarification/abandon",
    tag = "clarifications",
    summary = "Abandon a session: it blocks nothing any more, and its plan is never confirmed",
    description = "For the agent that submitted the plan, the person for whom it acts or who is responsible for it, and admins: by a key, a token, a subscriber token that may answer, or a sign-in session with X-CSRF-Token. An agent does not release gaps that a person must answer: until a person abandons the session as well, or it expires, irreversible calls that no person approved after the agent's abandonment are refused with clarification_required.",
    request_body = SessionRequest,
    responses((status = 200, description = "The state of the session; repeating the request changes nothing", body = StatusResponse), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("session" = []), ("bearer" = []))
)]
pub(crate) async fn post(
    State(app): State<App>,
    asker: SessionAsker,
    MplpBody(asked): MplpBody<SessionRequest>,
) -> Result<axum::Json<StatusResponse>, Denied> {
    let by = asker.abandoning()?;
    Ok(axum::Json(app.engine.clarifications().clarify_abandon(&asker.at, by, &asked.session_id).await?))
}
