//! `POST /agent/delegate` (AAP 17.2): the two steps behind the consent page, for a signed-in person only.

use crate::{
    App,
    http::{answer::Refused, asker::Asker, at::At, body::Json, version},
    pages::pick_language,
};
use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use countersign_protocol::aap::delegate::{DelegateRequest, DelegateResponse, DeniedResponse, NotGranted};
use countersign_protocol::aap::error::Envelope;
use http::{StatusCode, header};

#[utoipa::path(
    post,
    path = "/agent/delegate",
    tag = "people",
    summary = "Show what would be granted, then grant it",
    params(("X-CSRF-Token" = String, Header, description = "The token of the session")),
    request_body = DelegateRequest,
    responses((status = 200, description = "What the person must see first, or that the request was denied", body = NotGranted), (status = 201, description = "Granted", body = DelegateResponse), (status = "4XX", description = "Refused: the envelope says why and what to do", body = Envelope), (status = "5XX", description = "Trouble on our side", body = Envelope)),
    security(("session" = []))
)]
pub(crate) async fn post(
    State(app): State<App>,
    At(at): At,
    asker: Asker,
    Json(body): Json<DelegateRequest>,
) -> Result<Response, Refused> {
    version::check(&asker.headers, false)?;
    let who = asker.person()?;
    asker.own_page(&app, None)?;
    let member = app.engine.member(who, at.project.key).await?;
    if !body.approve {
        let redirect = app.engine.deny(&at, &member, &body).await?;
        return Ok(axum::Json(NotGranted::Denied(DeniedResponse { denied: true, redirect })).into_response());
    }
    if body.disclosure_id.is_none() {
        let language = pick_language(asker.headers.get(header::ACCEPT_LANGUAGE).and_then(|v| v.to_str().ok()));
        let shown = app.engine.show_disclosure(&at, &member, &body, language.tag()).await?;
        return Ok(axum::Json(NotGranted::Shown(shown)).into_response());
    }
    let granted = app.engine.grant(&at, &member, &body).await?;
    Ok((StatusCode::CREATED, axum::Json(granted)).into_response())
}
