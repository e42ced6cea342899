//! `POST /v1/confirmations`: an agent requests approval of one exactly defined action.

use super::{AgentCaller, raised, without};
use crate::{
    App,
    http::{answer::RefusalResponse, body::Json},
};
use axum::{extract::State, response::Response};
use countersign_protocol::aap::error::ErrorEnvelope;
use countersign_protocol::decisions::{ConfirmationRequest, DecisionDocument};

#[utoipa::path(
    post,
    path = "/v1/confirmations",
    tag = "decisions",
    summary = "Request an approval of an action",
    request_body = ConfirmationRequest,
    responses((status = 201, description = "The question is pending", body = DecisionDocument), (status = 200, description = "The same question is already pending; nobody was asked again", body = DecisionDocument), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn post(
    State(app): State<App>,
    AgentCaller { at, agent, .. }: AgentCaller,
    Json(body): Json<ConfirmationRequest>,
) -> Result<Response, RefusalResponse> {
    without(&body.problems())?;
    Ok(raised(app.engine.decisions().raise_confirmation(&at, &agent, &body).await?))
}
