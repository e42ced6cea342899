//! `/mplp/v1/allowances`: a person's open allowances with their remaining uses, and their revocation.

use super::{caller::Caller, denied::Denied, ids::named, sent::Sent, shown};
use crate::{App, http::answer::Refused};
use axum::extract::{FromRequestParts, State};
use countersign_engine::Reader;
use countersign_protocol::{
    aap::error::Envelope,
    mplp::{AllowanceShown, Left, Listed, ReasonGiven},
};
use http::request::Parts;

#[utoipa::path(
    get,
    path = "/mplp/v1/allowances",
    tag = "plans",
    summary = "Every open yes for more than one call, with what is left of it",
    responses((status = 200, description = "Those for the agents of the person and those that the person gave; all of them for an admin", body = Listed<AllowanceShown>), (status = "4XX", description = "Refused: the envelope says why and what to do", body = Envelope), (status = "5XX", description = "Trouble on our side", body = Envelope)),
    security(("bearer" = []))
)]
pub(crate) async fn get(State(app): State<App>, caller: Caller) -> Result<axum::Json<Listed<AllowanceShown>>, Denied> {
    caller.person(&app)?;
    let Reader::Person(member) = caller.reader() else {
        return Ok(axum::Json(Listed { items: Vec::new(), next: None }));
    };
    let open = app.engine.open_allowances(&caller.at, &member).await?;
    Ok(axum::Json(Listed { items: open.iter().map(shown::allowance).collect(), next: None }))
}

#[utoipa::path(
    post,
    path = "/mplp/v1/allowances/{allowance}/revoke",
    tag = "plans",
    summary = "Take back what is left of a yes",
    params(("allowance" = String, Path, description = "allowance_id, as the list shows it")),
    request_body = Option<ReasonGiven>,
    responses((status = 200, description = "Nothing more can run by it", body = Left), (status = "4XX", description = "Refused: the envelope says why and what to do", body = Envelope), (status = "5XX", description = "Trouble on our side", body = Envelope)),
    security(("bearer" = []))
)]
pub(crate) async fn revoke(
    State(app): State<App>,
    caller: Caller,
    AllowanceId(id): AllowanceId,
    Sent(given): Sent<ReasonGiven>,
) -> Result<axum::Json<Left>, Denied> {
    let by = caller.person(&app)?;
    let over = app.engine.take_back(&caller.at, &id, &by, given.reason).await?;
    Ok(axum::Json(shown::left(&over)))
}

pub(crate) struct AllowanceId(String);

impl FromRequestParts<App> for AllowanceId {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Refused> {
        Ok(Self(named(parts, app, "allowance").await))
    }
}
