//! Confirms: approvals requested, decided, locked, listed and imported (MPLP 2, 4.3).

use super::{
    caller::{ConfirmId, MplpCaller},
    denied::{Denied, not_counted},
    paging::{self, Newest},
    plans::confirmed,
    requests::{ConfirmBody, MplpBody},
    responses::created,
};
use crate::http::{
    answer::{ErrorResponses, JsonResult, RefusalResponse},
    request_id::RequestId,
};
use axum::response::Response;
use countersign_engine::{Decider, Refusal, Speaker, mplp_views::roles};
use countersign_protocol::{
    aap::error::ErrorEnvelope,
    mplp::{Confirm, ConfirmSubmission, DecisionRequest, Governance, ListPage, MplpRole},
};

/// An agent requests an approval, and Confirms are listed (MPLP 2).
#[utoipa::path(
    get, path = "/mplp/v1/confirms", tag = "plans", security(("bearer" = [])),
    summary = "The Confirms that the caller may see, newest first",
    description = "Every confirmation request is a Confirm, regardless of its origin: those of the gateway and of /v1/confirmations have the target_type other. Imported ones are not listed.",
    params(("limit" = Option<u32>, Query, minimum = 1, description = "Default 50, at most 200"), ("before" = Option<String>, Query, description = "next of the previous page")),
    responses((status = 200, description = "A page of Confirms; it may have fewer than the limit although there is a next page", body = ListPage<Confirm>), ErrorResponses),
)]
pub(crate) async fn list(caller: MplpCaller, page: Newest) -> JsonResult<ListPage<Confirm>> {
    let (items, last) = caller.engine.plans().confirms(&caller.at, &caller.reader(), page.before, page.limit).await?;
    Ok(axum::Json(ListPage { items, next: paging::next(last) }))
}

#[utoipa::path(
    post, path = "/mplp/v1/confirms", tag = "plans", security(("bearer" = [])), request_body = ConfirmBody,
    summary = "Request an approval",
    description = "A bare Confirm, or one with the object to approve. It is stored as pending under a new confirm_id, regardless of its own status and id.",
    responses((status = 201, description = "The approval is pending; Location is the Confirm, which has an id of its own", body = Confirm), (status = 200, description = "The approval is already pending", body = Confirm), ErrorResponses),
)]
pub(crate) async fn post(
    caller: MplpCaller,
    MplpBody(submission): MplpBody<ConfirmSubmission>,
) -> Result<Response, RefusalResponse> {
    let raised = caller.engine.plans().raise_confirm(&caller.at, caller.agent()?, &submission).await?;
    Ok(confirmed(&caller, &raised))
}

/// One approval record.
#[utoipa::path(
    get, path = "/mplp/v1/confirms/{confirm}", tag = "plans", security(("bearer" = [])),
    summary = "A Confirm and its outcome",
    params(("confirm" = String, Path, description = "confirm_id of the Confirm")),
    responses((status = 200, description = "A Confirm by the published schema", body = Confirm), ErrorResponses),
)]
pub(crate) async fn get(caller: MplpCaller, ConfirmId(id): ConfirmId) -> JsonResult<Confirm> {
    Ok(axum::Json(caller.engine.plans().confirm(&caller.at, &caller.reader(), &id).await?.document))
}

/// A person decides, or the requester withdraws (MPLP 4.3).
#[utoipa::path(
    post, path = "/mplp/v1/confirms/{confirm}/decisions", tag = "plans", security(("bearer" = [])),
    request_body = DecisionRequest,
    summary = "Approve, reject or cancel",
    description = "For people, by a subscriber token of theirs. Their role follows from their identity; steps approves only some steps of a plan, bounds allows more calls than the one shown. An agent may only cancel its own requests.",
    params(("confirm" = String, Path, description = "confirm_id of the Confirm")),
    responses((status = 201, description = "The Confirm with its decision", body = Confirm), (status = 409, description = "It is settled, locked or too late; if settled, decision has its current state", body = ErrorEnvelope), ErrorResponses),
)]
pub(crate) async fn decide(
    caller: MplpCaller,
    ConfirmId(id): ConfirmId,
    request: RequestId,
    MplpBody(body): MplpBody<DecisionRequest>,
) -> Result<(http::StatusCode, axum::Json<Confirm>), Denied> {
    let decider = decider(&caller)?;
    match caller.engine.plans().decide_confirm(&caller.at, &decider, &id, &body).await {
        Ok(confirm) => Ok((http::StatusCode::CREATED, axum::Json(confirm))),
        Err(why) => Err(not_counted(&caller, &request, &id, why).await),
    }
}

fn decider(caller: &MplpCaller) -> Result<Decider, Refusal> {
    match &caller.speaker {
        Speaker::Agent(agent) => Ok(Decider::Agent(agent.clone())),
        Speaker::Person(_) | Speaker::Admin => caller.person().map(|by| Decider::Person(Box::new(by))),
    }
}

/// Locks and unlocks a Confirm (M-27).
#[utoipa::path(
    put, path = "/mplp/v1/confirms/{confirm}/governance", tag = "plans", security(("bearer" = [])),
    request_body = Governance,
    summary = "Lock or unlock a Confirm",
    description = "For people whose role has the capability confirm.override. A locked Confirm accepts only a decision with override.",
    params(("confirm" = String, Path, description = "confirm_id of the Confirm")),
    responses((status = 200, description = "The current Confirm", body = Confirm), (status = 409, description = "It is settled; decision has its current state", body = ErrorEnvelope), ErrorResponses),
)]
pub(crate) async fn govern(
    caller: MplpCaller,
    ConfirmId(id): ConfirmId,
    request: RequestId,
    MplpBody(governance): MplpBody<Governance>,
) -> Result<axum::Json<Confirm>, Denied> {
    let by = caller.person()?;
    match caller.engine.plans().govern_confirm(&caller.at, &by, &id, &governance).await {
        Ok(confirm) => Ok(axum::Json(confirm)),
        Err(why) => Err(not_counted(&caller, &request, &id, why).await),
    }
}

/// Stores another system's approval record, for reading only (M-07).
#[utoipa::path(
    post, path = "/mplp/v1/confirms/imports", tag = "plans", security(("bearer" = [])), request_body = Confirm,
    summary = "Import an approval record of another system",
    responses((status = 201, description = "Stored under its own id, with the status of its last decision. It permits nothing", body = Confirm), ErrorResponses),
)]
pub(crate) async fn import(
    caller: MplpCaller,
    MplpBody(document): MplpBody<Confirm>,
) -> Result<Response, RefusalResponse> {
    let kept = caller.engine.plans().import_confirm(&caller.at, caller.agent()?, &document).await?;
    let place = caller.location(&format!("confirms/{}", kept.confirm_id));
    Ok(created(axum::Json(kept), true, &place))
}

/// The labels under which people and agents ask and decide (M-06).
#[utoipa::path(
    get, path = "/mplp/v1/roles", tag = "plans", security(("bearer" = [])),
    summary = "The roles of the project and their capabilities",
    responses((status = 200, description = "Roles by the published schema, without their members", body = ListPage<MplpRole>), ErrorResponses),
)]
pub(crate) async fn roles(caller: MplpCaller) -> JsonResult<ListPage<MplpRole>> {
    let items = roles::documents(&caller.at.project.document, caller.engine.now());
    Ok(axum::Json(ListPage { items, next: None }))
}
