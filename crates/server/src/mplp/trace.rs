//! `GET /mplp/v1/plans/{plan}/trace`: the progress of a plan, as a Trace.

use super::{caller::Caller, denied::Denied, ids::PlanId};
use crate::App;
use axum::extract::State;
use countersign_engine::mplp_views::trace;
use countersign_protocol::{aap::error::Envelope, mplp::Trace};

#[utoipa::path(
    get,
    path = "/mplp/v1/plans/{plan}/trace",
    tag = "plans",
    summary = "How far a plan has come",
    params(("plan" = String, Path, description = "plan_id of the plan")),
    responses((status = 200, description = "A Trace by the published schema, one segment a step", body = Trace), (status = "4XX", description = "Refused: the envelope says why and what to do", body = Envelope), (status = "5XX", description = "Trouble on our side", body = Envelope)),
    security(("bearer" = []))
)]
pub(crate) async fn get(
    State(app): State<App>,
    caller: Caller,
    PlanId(id): PlanId,
) -> Result<axum::Json<Trace>, Denied> {
    let shown = app.engine.plan(&caller.at, &caller.reader(), &id).await?;
    Ok(axum::Json(trace::document(&shown.plan)))
}
