//! `GET /mplp/v1/confirms/{confirm}`: one approval record.

use super::{caller::MplpCaller, denied::Denied, ids::ConfirmId};
use crate::App;
use axum::extract::State;
use countersign_protocol::{aap::error::ErrorEnvelope, mplp::Confirm};

#[utoipa::path(
    get,
    path = "/mplp/v1/confirms/{confirm}",
    tag = "plans",
    summary = "A Confirm and its outcome",
    params(("confirm" = String, Path, description = "confirm_id of the Confirm")),
    responses((status = 200, description = "A Confirm by the published schema", body = Confirm), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn get(
    State(app): State<App>,
    caller: MplpCaller,
    ConfirmId(id): ConfirmId,
) -> Result<axum::Json<Confirm>, Denied> {
    Ok(axum::Json(app.engine.plans().confirm(&caller.at, &caller.reader(), &id).await?.document))
}
