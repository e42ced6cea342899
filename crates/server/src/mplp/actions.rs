//! `GET /mplp/v1/plans/{plan}/actions`: the call of each step, the author of its text, and its remaining uses.

use super::{caller::MplpCaller, denied::Denied, ids::PlanId, responses};
use crate::App;
use axum::extract::State;
use countersign_protocol::{aap::error::ErrorEnvelope, mplp::PlanActions};

#[utoipa::path(
    get,
    path = "/mplp/v1/plans/{plan}/actions",
    tag = "plans",
    summary = "The call of each step, and its remaining uses",
    params(("plan" = String, Path, description = "plan_id of the plan")),
    responses((status = 200, description = "Every step, in the order of the plan", body = PlanActions), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn get(
    State(app): State<App>,
    caller: MplpCaller,
    PlanId(id): PlanId,
) -> Result<axum::Json<PlanActions>, Denied> {
    let found = app.engine.plans().plan(&caller.at, &caller.reader(), &id).await?;
    Ok(axum::Json(responses::actions(&found)))
}
