//! `POST /v1/decisions/{decision}/claim`: an agent claims an allowance right before it acts.

use super::{AgentCaller, DecisionId};
use crate::{
    App,
    http::{answer::RefusalResponse, body::Json},
};
use axum::extract::State;
use countersign_protocol::aap::error::ErrorEnvelope;
use countersign_protocol::decisions::{ClaimRequest, DecisionDocument};

#[utoipa::path(
    post,
    path = "/v1/decisions/{decision}/claim",
    tag = "decisions",
    summary = "Claim an approval, once, for exactly the approved call",
    params(("decision" = String, Path, description = "decision_id of the question")),
    request_body = ClaimRequest,
    responses((status = 200, description = "Claimed: carry it out now, once, and report the outcome", body = DecisionDocument), (status = "4XX", description = "Refused: the error envelope has the reason and the next step. Carry nothing out", body = ErrorEnvelope), (status = "5XX", description = "Server error. Carry nothing out; read the decision again", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn post(
    State(app): State<App>,
    AgentCaller { at, agent, .. }: AgentCaller,
    DecisionId(id): DecisionId,
    Json(body): Json<ClaimRequest>,
) -> Result<axum::Json<DecisionDocument>, RefusalResponse> {
    Ok(axum::Json(app.engine.decisions().claim(&at, &agent, &id, &body).await?))
}
