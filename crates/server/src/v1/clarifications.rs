//! `POST /v1/clarifications`: an agent asks a question instead of guessing.

use super::{AgentCaller, raised, without};
use crate::{
    App,
    http::{answer::RefusalResponse, body::Json},
};
use axum::{extract::State, response::Response};
use countersign_protocol::aap::error::ErrorEnvelope;
use countersign_protocol::decisions::{ClarificationRequest, DecisionDocument};

#[utoipa::path(
    post,
    path = "/v1/clarifications",
    tag = "decisions",
    summary = "Ask people a question",
    request_body = ClarificationRequest,
    responses((status = 201, description = "The question is pending", body = DecisionDocument), (status = 200, description = "The same question is already pending; nobody was asked again", body = DecisionDocument), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn post(
    State(app): State<App>,
    AgentCaller { at, agent, .. }: AgentCaller,
    Json(body): Json<ClarificationRequest>,
) -> Result<Response, RefusalResponse> {
    without(&body.problems())?;
    Ok(raised(app.engine.decisions().raise_clarification(&at, &agent, &body).await?))
}
