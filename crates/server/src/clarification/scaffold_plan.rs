//! `POST /v1/clarification/scaffold-plan`: the whole plan or none of it (Clarification 8).

use super::responses;
use crate::{
    App,
    mplp::{denied::Denied, requests::MplpBody},
    v1::AgentCaller,
};
use axum::extract::State;
use countersign_protocol::{
    aap::error::ErrorEnvelope,
    clarification::submission::{CheckRequest, ScaffoldResponse},
};

#[utoipa::path(
    post,
    path = "/v1/clarification/scaffold-plan",
    tag = "clarifications",
    summary = "Get the plan, if it is clear and confirmed",
    request_body = CheckRequest,
    responses((status = 200, description = "plan_accepted with the whole plan, ready_to_proceed if it only has to be confirmed, or needs_clarification. Never a part of the plan", body = ScaffoldResponse), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn post(
    State(app): State<App>,
    AgentCaller { at, agent, .. }: AgentCaller,
    MplpBody(asked): MplpBody<CheckRequest>,
) -> Result<axum::Json<ScaffoldResponse>, Denied> {
    Ok(axum::Json(responses::scaffolded(
        app.engine.clarifications().scaffold_plan(&at, &agent, &asked).await?,
        "confirm-plan",
    )))
}
