//! `/mplp/v1/confirms`: an agent requests an approval, and Confirms are listed (MPLP 2).

use super::{
    bodies::ConfirmBody,
    caller::Caller,
    denied::Denied,
    paging::{self, Newest},
    propose::confirmed,
    sent::Sent,
};
use crate::App;
use axum::{extract::State, response::Response};
use countersign_protocol::{
    aap::error::Envelope,
    mplp::{Confirm, ConfirmSubmission, Listed},
};

#[utoipa::path(
    get,
    path = "/mplp/v1/confirms",
    tag = "plans",
    summary = "The Confirms that the caller may see, newest first",
    description = "Every confirmation is a Confirm, whoever asked for it: those of the gateway and of /v1/confirmations have the target_type other. Imported ones are not listed.",
    params(("limit" = Option<u32>, Query, minimum = 1, description = "50 unless said, at most 200"), ("before" = Option<String>, Query, description = "next of the page before")),
    responses((status = 200, description = "A page of Confirms; it may have fewer than asked for although there is a next one", body = Listed<Confirm>), (status = "4XX", description = "Refused: the envelope says why and what to do", body = Envelope), (status = "5XX", description = "Trouble on our side", body = Envelope)),
    security(("bearer" = []))
)]
pub(crate) async fn get(
    State(app): State<App>,
    caller: Caller,
    page: Newest,
) -> Result<axum::Json<Listed<Confirm>>, Denied> {
    let (items, last) = app.engine.confirms(&caller.at, &caller.reader(), page.before, page.limit).await?;
    Ok(axum::Json(Listed { items, next: paging::next(last) }))
}

#[utoipa::path(
    post,
    path = "/mplp/v1/confirms",
    tag = "plans",
    summary = "Ask people for an approval",
    description = "A bare Confirm, or one with what is to be approved beside it. It enters as pending under a new confirm_id, whatever it claims.",
    request_body = ConfirmBody,
    responses((status = 201, description = "People are being asked; Location is the Confirm, which has an id of its own", body = Confirm), (status = 200, description = "They are being asked already", body = Confirm), (status = "4XX", description = "Refused: the envelope says why and what to do", body = Envelope), (status = "5XX", description = "Trouble on our side", body = Envelope)),
    security(("bearer" = []))
)]
pub(crate) async fn post(
    State(app): State<App>,
    caller: Caller,
    Sent(submission): Sent<ConfirmSubmission>,
) -> Result<Response, Denied> {
    let raised = app.engine.raise_confirm(&caller.at, caller.agent()?, &submission).await?;
    Ok(confirmed(&caller, &raised))
}
