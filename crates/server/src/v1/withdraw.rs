//! `POST /v1/decisions/{decision}/withdraw`: an agent withdraws its question (AAEP 6.8).

use super::{AgentCaller, DecisionId};
use crate::{
    App,
    http::{answer::RefusalResponse, body::Json},
};
use axum::extract::State;
use countersign_protocol::aap::error::ErrorEnvelope;
use countersign_protocol::decisions::{DecisionDocument, WithdrawRequest};

#[utoipa::path(
    post,
    path = "/v1/decisions/{decision}/withdraw",
    tag = "decisions",
    summary = "Withdraw a pending question",
    params(("decision" = String, Path, description = "decision_id of the question")),
    request_body = WithdrawRequest,
    responses((status = 200, description = "Withdrawn; it can no longer be answered", body = DecisionDocument), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn post(
    State(app): State<App>,
    AgentCaller { at, agent, .. }: AgentCaller,
    DecisionId(id): DecisionId,
    Json(body): Json<WithdrawRequest>,
) -> Result<axum::Json<DecisionDocument>, RefusalResponse> {
    Ok(axum::Json(app.engine.decisions().withdraw(&at, &agent, &id, &body).await?))
}
