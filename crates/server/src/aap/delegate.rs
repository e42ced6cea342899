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
use countersign_protocol::aap::delegate::DelegateRequest;
use http::{StatusCode, header};

pub(super) async fn post(
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
        return Ok(axum::Json(serde_json::json!({ "denied": true, "redirect": redirect })).into_response());
    }
    if body.disclosure_id.is_none() {
        let language = pick_language(asker.headers.get(header::ACCEPT_LANGUAGE).and_then(|v| v.to_str().ok()));
        let shown = app.engine.show_disclosure(&at, &member, &body, language.tag()).await?;
        return Ok(axum::Json(shown).into_response());
    }
    let granted = app.engine.grant(&at, &member, &body).await?;
    Ok((StatusCode::CREATED, axum::Json(granted)).into_response())
}
