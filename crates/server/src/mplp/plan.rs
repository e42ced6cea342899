//! `/mplp/v1/plans/{plan}`: one plan in its current state.

use super::{bodies::PlanBody, caller::MplpCaller, denied::Denied, ids::PlanId, plans, requests::MplpBody};
use crate::App;
use axum::{extract::State, response::Response};
use countersign_engine::Refusal;
use countersign_protocol::{
    aap::error::ErrorEnvelope,
    mplp::{Plan, PlanSubmission},
};

#[utoipa::path(
    get,
    path = "/mplp/v1/plans/{plan}",
    tag = "plans",
    summary = "A plan with its current status",
    params(("plan" = String, Path, description = "plan_id of the plan")),
    responses((status = 200, description = "A Plan by the published schema", body = Plan), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn get(
    State(app): State<App>,
    caller: MplpCaller,
    PlanId(id): PlanId,
) -> Result<axum::Json<Plan>, Denied> {
    let shown = app.engine.plans().plan(&caller.at, &caller.reader(), &id).await?;
    Ok(axum::Json(shown.plan.document))
}

#[utoipa::path(
    put,
    path = "/mplp/v1/plans/{plan}",
    tag = "plans",
    summary = "Write a plan, or replace a draft",
    params(("plan" = String, Path, description = "plan_id of the plan")),
    request_body = PlanBody,
    responses((status = 201, description = "Written, with its status in this service", body = Plan), (status = 200, description = "The draft was replaced", body = Plan), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn put(
    State(app): State<App>,
    caller: MplpCaller,
    PlanId(id): PlanId,
    MplpBody(submission): MplpBody<PlanSubmission>,
) -> Result<Response, Denied> {
    if submission.plan.plan_id != id {
        return Err(Refusal::invalid("plan_id: must be the id in the path").into());
    }
    plans::write(&app, &caller, &submission, false).await
}
