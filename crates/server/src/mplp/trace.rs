//! `GET /mplp/v1/plans/{plan}/trace`: the progress of a plan, as a Trace.

use super::{caller::MplpCaller, denied::Denied, ids::PlanId};
use crate::App;
use axum::extract::State;
use countersign_engine::mplp_views::trace;
use countersign_protocol::{aap::error::ErrorEnvelope, mplp::Trace};

#[utoipa::path(
    get,
    path = "/mplp/v1/plans/{plan}/trace",
    tag = "plans",
    summary = "The progress of a plan",
    params(("plan" = String, Path, description = "plan_id of the plan")),
    responses((status = 200, description = "A Trace by the published schema, one segment per step", body = Trace), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn get(
    State(app): State<App>,
    caller: MplpCaller,
    PlanId(id): PlanId,
) -> Result<axum::Json<Trace>, Denied> {
    let shown = app.engine.plans().plan(&caller.at, &caller.reader(), &id).await?;
    Ok(axum::Json(trace::document(&shown.plan)))
}
