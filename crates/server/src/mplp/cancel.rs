//! `POST /mplp/v1/plans/{plan}/cancel`: its agent gives it up, or a person revokes its remaining allowances.

use super::{caller::MplpCaller, denied::Denied, ids::PlanId, requests::MplpBody};
use crate::App;
use axum::extract::State;
use countersign_engine::Speaker;
use countersign_protocol::{
    aap::error::ErrorEnvelope,
    mplp::{Plan, ReasonGiven},
};

#[utoipa::path(
    post,
    path = "/mplp/v1/plans/{plan}/cancel",
    tag = "plans",
    summary = "Cancel a plan and its remaining calls",
    params(("plan" = String, Path, description = "plan_id of the plan")),
    request_body = Option<ReasonGiven>,
    responses((status = 200, description = "The current plan", body = Plan), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn post(
    State(app): State<App>,
    caller: MplpCaller,
    PlanId(id): PlanId,
    MplpBody(given): MplpBody<ReasonGiven>,
) -> Result<axum::Json<Plan>, Denied> {
    let plan = match &caller.speaker {
        Speaker::Agent(agent) => app.engine.plans().cancel_own_plan(&caller.at, agent, &id, given.reason).await?,
        Speaker::Person(_) | Speaker::Admin => {
            let by = caller.person(&app)?;
            // A caller without read access must not learn that the plan exists.
            app.engine.plans().plan(&caller.at, &caller.reader(), &id).await?;
            app.engine.plans().cancel_plan(&caller.at, &id, &by, given.reason).await?
        }
    };
    Ok(axum::Json(plan.document))
}
