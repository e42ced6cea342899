//! `/mplp/v1/allowances`: a person's open allowances with their remaining uses, and their revocation.

use super::{caller::MplpCaller, requests::MplpBody};
use crate::{
    App,
    http::{
        answer::{ErrorResponses, JsonResult, RefusalResponse},
        at::path_param,
    },
};
use axum::extract::FromRequestParts;
use countersign_engine::{OpenAllowance, ProjectReader, mplp_views::allowance::left};
use countersign_protocol::mplp::{AllowanceShown, Left, ListPage, ReasonGiven};
use http::request::Parts;

#[utoipa::path(
    get, path = "/mplp/v1/allowances", tag = "plans", security(("bearer" = [])),
    summary = "All standing approvals, with their remaining uses",
    responses((status = 200, description = "Those for the person's agents and those given by the person; all of them for an admin", body = ListPage<AllowanceShown>), ErrorResponses),
)]
pub(crate) async fn list(caller: MplpCaller) -> JsonResult<ListPage<AllowanceShown>> {
    caller.person()?;
    let ProjectReader::Person(member) = caller.reader() else {
        return Ok(axum::Json(ListPage { items: Vec::new(), next: None }));
    };
    let open = caller.engine.decisions().open_allowances(&caller.at, &member).await?;
    Ok(axum::Json(ListPage { items: open.iter().map(OpenAllowance::shown).collect(), next: None }))
}

#[utoipa::path(
    post, path = "/mplp/v1/allowances/{allowance}/revoke", tag = "plans", security(("bearer" = [])),
    request_body = Option<ReasonGiven>,
    summary = "Revoke a standing approval",
    params(("allowance" = String, Path, description = "allowance_id from the list")),
    responses((status = 200, description = "Nothing more can run under it", body = Left), ErrorResponses),
)]
pub(crate) async fn revoke(
    caller: MplpCaller,
    AllowanceId(id): AllowanceId,
    MplpBody(given): MplpBody<ReasonGiven>,
) -> JsonResult<Left> {
    let by = caller.person()?;
    let over = caller.engine.decisions().revoke_allowance(&caller.at, &id, &by, given.reason).await?;
    Ok(axum::Json(left(&over)))
}

pub(crate) struct AllowanceId(String);

impl FromRequestParts<App> for AllowanceId {
    type Rejection = RefusalResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, RefusalResponse> {
        Ok(Self(path_param(parts, app, "allowance").await.unwrap_or_default()))
    }
}
