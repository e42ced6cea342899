//! The progress of a plan: its steps, their calls and their remaining uses.

use super::{
    caller::{MplpCaller, PlanId, StepId},
    requests::MplpBody,
    responses,
};
use crate::http::answer::{ErrorResponses, JsonResult};
use countersign_engine::mplp_views::trace;
use countersign_protocol::mplp::{Plan, PlanActions, StepReport, Trace};

/// The call of each step, the author of its text, and its remaining uses.
#[utoipa::path(
    get, path = "/mplp/v1/plans/{plan}/actions", tag = "plans", security(("bearer" = [])),
    summary = "The call of each step, and its remaining uses",
    params(("plan" = String, Path, description = "plan_id of the plan")),
    responses((status = 200, description = "Every step, in the order of the plan", body = PlanActions), ErrorResponses),
)]
pub(crate) async fn actions(caller: MplpCaller, PlanId(id): PlanId) -> JsonResult<PlanActions> {
    let found = caller.engine.plans().plan(&caller.at, &caller.reader(), &id).await?;
    Ok(axum::Json(responses::actions(&found)))
}

/// The progress of a plan, as a Trace.
#[utoipa::path(
    get, path = "/mplp/v1/plans/{plan}/trace", tag = "plans", security(("bearer" = [])),
    summary = "The progress of a plan",
    params(("plan" = String, Path, description = "plan_id of the plan")),
    responses((status = 200, description = "A Trace by the published schema, one segment per step", body = Trace), ErrorResponses),
)]
pub(crate) async fn trace(caller: MplpCaller, PlanId(id): PlanId) -> JsonResult<Trace> {
    let shown = caller.engine.plans().plan(&caller.at, &caller.reader(), &id).await?;
    Ok(axum::Json(trace::document(&shown.plan)))
}

/// An agent reports the progress of a step that it carries out by itself.
#[utoipa::path(
    post, path = "/mplp/v1/plans/{plan}/steps/{step}", tag = "plans", security(("bearer" = [])),
    request_body = StepReport,
    summary = "Report the progress of a step",
    params(("plan" = String, Path, description = "plan_id of the plan"), ("step" = String, Path, description = "step_id of the step")),
    responses((status = 200, description = "The current plan", body = Plan), ErrorResponses),
)]
pub(crate) async fn report_step(
    caller: MplpCaller,
    PlanId(plan): PlanId,
    StepId(step): StepId,
    MplpBody(report): MplpBody<StepReport>,
) -> JsonResult<Plan> {
    let plan = caller.engine.plans().report_step(&caller.at, caller.agent()?, &plan, &step, &report).await?;
    Ok(axum::Json(plan.document))
}
