//! `POST /mplp/v1/confirms/imports`: stores another system's approval record, for reading only (M-07).

use super::{caller::MplpCaller, denied::Denied, requests::MplpBody, responses::created};
use crate::App;
use axum::{extract::State, response::Response};
use countersign_protocol::{aap::error::ErrorEnvelope, mplp::Confirm};

#[utoipa::path(
    post,
    path = "/mplp/v1/confirms/imports",
    tag = "plans",
    summary = "Import an approval record of another system",
    request_body = Confirm,
    responses((status = 201, description = "Stored under its own id, with the status of its last decision. It permits nothing", body = Confirm), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn post(
    State(app): State<App>,
    caller: MplpCaller,
    MplpBody(document): MplpBody<Confirm>,
) -> Result<Response, Denied> {
    let kept = app.engine.plans().import_confirm(&caller.at, caller.agent()?, &document).await?;
    let place = caller.place(&format!("confirms/{}", kept.confirm_id));
    Ok(created(axum::Json(kept), true, &place))
}
