//! `POST /mplp/v1/plans/{plan}/steps/{step}`: an agent reports the progress of a step that it carries out by itself.

use super::{
    caller::MplpCaller,
    denied::Denied,
    ids::{PlanId, StepId},
    requests::MplpBody,
};
use crate::App;
use axum::extract::State;
use countersign_protocol::{
    aap::error::ErrorEnvelope,
    mplp::{Plan, StepReport},
};

#[utoipa::path(
    post,
    path = "/mplp/v1/plans/{plan}/steps/{step}",
    tag = "plans",
    summary = "Report the progress of a step",
    params(("plan" = String, Path, description = "plan_id of the plan"), ("step" = String, Path, description = "step_id of the step")),
    request_body = StepReport,
    responses((status = 200, description = "The current plan", body = Plan), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn post(
    State(app): State<App>,
    caller: MplpCaller,
    PlanId(plan): PlanId,
    StepId(step): StepId,
    MplpBody(report): MplpBody<StepReport>,
) -> Result<axum::Json<Plan>, Denied> {
    let plan = app.engine.plans().report_step(&caller.at, caller.agent()?, &plan, &step, &report).await?;
    Ok(axum::Json(plan.document))
}
