//! `POST /mplp/v1/plans/{plan}/steps/{step}`: an agent reports the progress of a step that it carries out by itself.

use super::{
    caller::Caller,
    denied::Denied,
    ids::{PlanId, StepId},
    sent::Sent,
};
use crate::App;
use axum::extract::State;
use countersign_protocol::{
    aap::error::Envelope,
    mplp::{Plan, StepReport},
};

#[utoipa::path(
    post,
    path = "/mplp/v1/plans/{plan}/steps/{step}",
    tag = "plans",
    summary = "Report how far a step has come",
    params(("plan" = String, Path, description = "plan_id of the plan"), ("step" = String, Path, description = "step_id of the step")),
    request_body = StepReport,
    responses((status = 200, description = "The plan as it is now", body = Plan), (status = "4XX", description = "Refused: the envelope says why and what to do", body = Envelope), (status = "5XX", description = "Trouble on our side", body = Envelope)),
    security(("bearer" = []))
)]
pub(crate) async fn post(
    State(app): State<App>,
    caller: Caller,
    PlanId(plan): PlanId,
    StepId(step): StepId,
    Sent(report): Sent<StepReport>,
) -> Result<axum::Json<Plan>, Denied> {
    let plan = app.engine.report_step(&caller.at, caller.agent()?, &plan, &step, &report).await?;
    Ok(axum::Json(plan.document))
}
