//! `GET /v1/actions`: the actions an agent may ask for.

use super::AgentCaller;
use crate::{App, http::answer::RefusalResponse};
use axum::extract::State;
use countersign_protocol::{aap::error::ErrorEnvelope, decisions::ActionsDocument};

#[utoipa::path(
    get,
    path = "/v1/actions",
    tag = "decisions",
    summary = "The actions that the agent may request",
    responses((status = 200, description = "Every action, with the project's policy for it", body = ActionsDocument), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn get(
    State(app): State<App>,
    AgentCaller { at, agent, .. }: AgentCaller,
) -> Result<axum::Json<ActionsDocument>, RefusalResponse> {
    Ok(axum::Json(app.engine.decisions().actions(&at, &agent)))
}
