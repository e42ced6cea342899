//! `POST /agent/delegate` (AAP 17.2): the two steps behind the consent page, for a signed-in person only.

use crate::{
    App,
    http::{answer::RefusalResponse, at::AtProject, body::Json, caller::Asker, version},
    pages::pick_language,
};
use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use countersign_protocol::aap::delegate::{DelegateRequest, DelegateResponse, DeniedResponse, NotGranted};
use countersign_protocol::aap::error::ErrorEnvelope;
use http::{StatusCode, header};

#[utoipa::path(
    post,
    path = "/agent/delegate",
    tag = "people",
    summary = "Show the disclosure, then grant a delegation",
    params(("X-CSRF-Token" = String, Header, description = "The CSRF token of the sign-in session")),
    request_body = DelegateRequest,
    responses((status = 200, description = "The disclosure that the person must read first, or the denial of the request", body = NotGranted), (status = 201, description = "Granted", body = DelegateResponse), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = ErrorEnvelope), (status = "5XX", description = "Server error", body = ErrorEnvelope)),
    security(("session" = []))
)]
pub(crate) async fn post(
    State(app): State<App>,
    AtProject(at): AtProject,
    asker: Asker,
    Json(body): Json<DelegateRequest>,
) -> Result<Response, RefusalResponse> {
    version::check(&asker.headers, false)?;
    let who = asker.person()?;
    asker.own_page(&app, None)?;
    let member = app.engine.people().member(who, at.project.key).await?;
    if !body.approve {
        let redirect = app.engine.agents().deny(&at, &member, &body).await?;
        return Ok(axum::Json(NotGranted::Denied(DeniedResponse { denied: true, redirect })).into_response());
    }
    if body.disclosure_id.is_none() {
        let language = pick_language(asker.headers.get(header::ACCEPT_LANGUAGE).and_then(|v| v.to_str().ok()));
        let shown = app.engine.agents().show_disclosure(&at, &member, &body, language.tag()).await?;
        return Ok(axum::Json(NotGranted::Shown(shown)).into_response());
    }
    let granted = app.engine.agents().grant(&at, &member, &body).await?;
    Ok((StatusCode::CREATED, axum::Json(granted)).into_response())
}
