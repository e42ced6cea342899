//! The progress of a plan: its steps, their calls and their remaining uses.

use super::{
    caller::MplpCaller,
    caller::{PlanId, StepId},
    denied::Denied,
    requests::MplpBody,
    responses,
};
use crate::{App, http::answer::ErrorResponses};
use axum::extract::State;
use countersign_engine::mplp_views::trace;
use countersign_protocol::mplp::{Plan, PlanActions, StepReport, Trace};

/// The call of each step, the author of its text, and its remaining uses.
#[utoipa::path(
    get,
    path = "/mplp/v1/plans/{plan}/actions",
    tag = "plans",
    summary = "The call of each step, and its remaining uses",
    params(("plan" = String, Path, description = "plan_id of the plan")),
    responses((status = 200, description = "Every step, in the order of the plan", body = PlanActions), ErrorResponses),
    security(("bearer" = []))
)]
pub(crate) async fn actions(
    State(app): State<App>,
    caller: MplpCaller,
    PlanId(id): PlanId,
) -> Result<axum::Json<PlanActions>, Denied> {
    let found = app.engine.plans().plan(&caller.at, &caller.reader(), &id).await?;
    Ok(axum::Json(responses::actions(&found)))
}

/// The progress of a plan, as a Trace.
#[utoipa::path(
    get,
    path = "/mplp/v1/plans/{plan}/trace",
    tag = "plans",
    summary = "The progress of a plan",
    params(("plan" = String, Path, description = "plan_id of the plan")),
    responses((status = 200, description = "A Trace by the published schema, one segment per step", body = Trace), ErrorResponses),
    security(("bearer" = []))
)]
pub(crate) async fn trace(
    State(app): State<App>,
    caller: MplpCaller,
    PlanId(id): PlanId,
) -> Result<axum::Json<Trace>, Denied> {
    let shown = app.engine.plans().plan(&caller.at, &caller.reader(), &id).await?;
    Ok(axum::Json(trace::document(&shown.plan)))
}

/// An agent reports the progress of a step that it carries out by itself.
#[utoipa::path(
    post,
    path = "/mplp/v1/plans/{plan}/steps/{step}",
    tag = "plans",
    summary = "Report the progress of a step",
    params(("plan" = String, Path, description = "plan_id of the plan"), ("step" = String, Path, description = "step_id of the step")),
    request_body = StepReport,
    responses((status = 200, description = "The current plan", body = Plan), ErrorResponses),
    security(("bearer" = []))
)]
pub(crate) async fn report_step(
    State(app): State<App>,
    caller: MplpCaller,
    PlanId(plan): PlanId,
    StepId(step): StepId,
    MplpBody(report): MplpBody<StepReport>,
) -> Result<axum::Json<Plan>, Denied> {
    let plan = app.engine.plans().report_step(&caller.at, caller.agent()?, &plan, &step, &report).await?;
    Ok(axum::Json(plan.document))
}
