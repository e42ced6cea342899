//! `POST /v1/decisions/{decision}/outcome`: an agent reports the outcome of a claimed call.

use super::{AgentCaller, DecisionId};
use crate::{
    App,
    http::{answer::RefusalResponse, body::Json},
};
use axum::extract::State;
use countersign_protocol::aap::error::ErrorEnvelope;
use countersign_protocol::decisions::{DecisionDocument, OutcomeRequest};

#[utoipa::path(
    post,
    path = "/v1/decisions/{decision}/outcome",
    tag = "decisions",
    summary = "Report the outcome of a claimed action, or that it is still running",
    params(("decision" = String, Path, description = "decision_id of the question")),
    request_body = OutcomeRequest,
    responses((status = 200, description = "Recorded; the same report again changes nothing", body = DecisionDocument), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn post(
    State(app): State<App>,
    AgentCaller { at, agent, .. }: AgentCaller,
    DecisionId(id): DecisionId,
    Json(body): Json<OutcomeRequest>,
) -> Result<axum::Json<DecisionDocument>, RefusalResponse> {
    Ok(axum::Json(app.engine.decisions().report(&at, &agent, &id, &body).await?))
}
