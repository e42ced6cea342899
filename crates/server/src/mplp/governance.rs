//! `PUT /mplp/v1/confirms/{confirm}/governance`: locks and unlocks a Confirm (M-27).

use super::{
    caller::Caller,
    denied::{Denied, not_counted},
    ids::ConfirmId,
    sent::Sent,
};
use crate::{App, http::request_id::RequestId};
use axum::extract::State;
use countersign_protocol::{
    aap::error::Envelope,
    mplp::{Confirm, Governance},
};

#[utoipa::path(
    put,
    path = "/mplp/v1/confirms/{confirm}/governance",
    tag = "plans",
    summary = "Lock a Confirm, or open it again",
    description = "For people whose role has the capability confirm.override. A locked Confirm takes no decision but one with override.",
    params(("confirm" = String, Path, description = "confirm_id of the Confirm")),
    request_body = Governance,
    responses((status = 200, description = "The Confirm as it is now", body = Confirm), (status = 409, description = "It is settled; decision says what it is now", body = Envelope), (status = "4XX", description = "Refused: the envelope says why and what to do", body = Envelope), (status = "5XX", description = "Trouble on our side", body = Envelope)),
    security(("bearer" = []))
)]
pub(crate) async fn put(
    State(app): State<App>,
    caller: Caller,
    ConfirmId(id): ConfirmId,
    request: RequestId,
    Sent(governance): Sent<Governance>,
) -> Result<axum::Json<Confirm>, Denied> {
    let by = caller.person(&app)?;
    match app.engine.govern_confirm(&caller.at, &by, &id, &governance).await {
        Ok(confirm) => Ok(axum::Json(confirm)),
        Err(why) => Err(not_counted(&app, &caller, &request, &id, why).await),
    }
}
