//! `PUT /mplp/v1/confirms/{confirm}/governance`: locks and unlocks a Confirm (M-27).

use super::{
    caller::MplpCaller,
    denied::{Denied, not_counted},
    ids::ConfirmId,
    requests::MplpBody,
};
use crate::{App, http::request_id::RequestId};
use axum::extract::State;
use countersign_protocol::{
    aap::error::ErrorEnvelope,
    mplp::{Confirm, Governance},
};

#[utoipa::path(
    put,
    path = "/mplp/v1/confirms/{confirm}/governance",
    tag = "plans",
    summary = "Lock or unlock a Confirm",
    description = "For people whose role has the capability confirm.override. A locked Confirm accepts only a decision with override.",
    params(("confirm" = String, Path, description = "confirm_id of the Confirm")),
    request_body = Governance,
    responses((status = 200, description = "The current Confirm", body = Confirm), (status = 409, description = "It is settled; decision has its current state", body = ErrorEnvelope), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn put(
    State(app): State<App>,
    caller: MplpCaller,
    ConfirmId(id): ConfirmId,
    request: RequestId,
    MplpBody(governance): MplpBody<Governance>,
) -> Result<axum::Json<Confirm>, Denied> {
    let by = caller.person(&app)?;
    match app.engine.plans().govern_confirm(&caller.at, &by, &id, &governance).await {
        Ok(confirm) => Ok(axum::Json(confirm)),
        Err(why) => Err(not_counted(&app, &caller, &request, &id, why).await),
    }
}
