//! `/mplp/v1/plans/{plan}/diff`: the changes since the plan was last proposed, and the changes that a draft would make.

use super::{bodies::PlanBody, caller::MplpCaller, denied::Denied, ids::PlanId, requests::MplpBody};
use crate::App;
use axum::extract::State;
use countersign_protocol::{
    aap::error::ErrorEnvelope,
    mplp::{PlanDifference, PlanSubmission},
};

#[utoipa::path(
    get,
    path = "/mplp/v1/plans/{plan}/diff",
    tag = "plans",
    summary = "The changes since the plan was last proposed",
    params(("plan" = String, Path, description = "plan_id of the plan")),
    responses((status = 200, description = "Lines for people; none if nothing changed, or if the plan was never proposed", body = PlanDifference), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn get(
    State(app): State<App>,
    caller: MplpCaller,
    PlanId(id): PlanId,
) -> Result<axum::Json<PlanDifference>, Denied> {
    let shown = app.engine.plans().plan(&caller.at, &caller.reader(), &id).await?;
    Ok(axum::Json(PlanDifference { lines: app.engine.plans().plan_changes(&shown.plan) }))
}

#[utoipa::path(
    post,
    path = "/mplp/v1/plans/{plan}/diff",
    tag = "plans",
    summary = "The changes that this document would make to the plan",
    params(("plan" = String, Path, description = "plan_id of the plan")),
    request_body = PlanBody,
    responses((status = 200, description = "Lines for people. Nothing was written", body = PlanDifference), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn post(
    State(app): State<App>,
    caller: MplpCaller,
    PlanId(id): PlanId,
    MplpBody(submission): MplpBody<PlanSubmission>,
) -> Result<axum::Json<PlanDifference>, Denied> {
    let lines = app.engine.plans().plan_difference(&caller.at, caller.agent()?, &id, &submission).await?;
    Ok(axum::Json(PlanDifference { lines }))
}
