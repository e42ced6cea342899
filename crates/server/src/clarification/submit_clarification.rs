//! `POST /v1/clarification/submit-clarification`: checks a plan for gaps (Clarification 6.1).

use crate::{
    App,
    mplp::{denied::Denied, requests::MplpBody},
    v1::AgentCaller,
};
use axum::extract::State;
use countersign_protocol::{
    aap::error::ErrorEnvelope,
    clarification::submission::{CheckRequest, CheckResponse},
};

#[utoipa::path(
    post,
    path = "/v1/clarification/submit-clarification",
    tag = "clarifications",
    summary = "Find the gaps in a plan",
    request_body = CheckRequest,
    responses((status = 200, description = "needs_clarification with every open gap, or ready_to_proceed. The same plan in the same session gets the same answer until a gap is answered", body = CheckResponse), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn post(
    State(app): State<App>,
    AgentCaller { at, agent, .. }: AgentCaller,
    MplpBody(asked): MplpBody<CheckRequest>,
) -> Result<axum::Json<CheckResponse>, Denied> {
    Ok(axum::Json(app.engine.clarifications().clarify_check(&at, &agent, &asked).await?.response))
}
