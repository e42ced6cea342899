//! `/mplp/v1/confirms`: an agent requests an approval, and Confirms are listed (MPLP 2).

use super::{
    bodies::ConfirmBody,
    caller::MplpCaller,
    denied::Denied,
    paging::{self, Newest},
    propose::confirmed,
    requests::MplpBody,
};
use crate::App;
use axum::{extract::State, response::Response};
use countersign_protocol::{
    aap::error::ErrorEnvelope,
    mplp::{Confirm, ConfirmSubmission, ListPage},
};

#[utoipa::path(
    get,
    path = "/mplp/v1/confirms",
    tag = "plans",
    summary = "The Confirms that the caller may see, newest first",
    description = "Every confirmation request is a Confirm, regardless of its origin: those of the gateway and of /v1/confirmations have the target_type other. Imported ones are not listed.",
    params(("limit" = Option<u32>, Query, minimum = 1, description = "Default 50, at most 200"), ("before" = Option<String>, Query, description = "next of the previous page")),
    responses((status = 200, description = "A page of Confirms; it may have fewer than the limit although there is a next page", body = ListPage<Confirm>), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn get(
    State(app): State<App>,
    caller: MplpCaller,
    page: Newest,
) -> Result<axum::Json<ListPage<Confirm>>, Denied> {
    let (items, last) = app.engine.plans().confirms(&caller.at, &caller.reader(), page.before, page.limit).await?;
    Ok(axum::Json(ListPage { items, next: paging::next(last) }))
}

#[utoipa::path(
    post,
    path = "/mplp/v1/confirms",
    tag = "plans",
    summary = "Request an approval",
    description = "A bare Confirm, or one with the object to approve. It is stored as pending under a new confirm_id, regardless of its own status and id.",
    request_body = ConfirmBody,
    responses((status = 201, description = "The approval is pending; Location is the Confirm, which has an id of its own", body = Confirm), (status = 200, description = "The approval is already pending", body = Confirm), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("bearer" = []))
)]
pub(crate) async fn post(
    State(app): State<App>,
    caller: MplpCaller,
    MplpBody(submission): MplpBody<ConfirmSubmission>,
) -> Result<Response, Denied> {
    let raised = app.engine.plans().raise_confirm(&caller.at, caller.agent()?, &submission).await?;
    Ok(confirmed(&caller, &raised))
}
