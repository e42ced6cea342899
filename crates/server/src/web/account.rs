//! `/account`, and the two sign-out forms.

use super::{answer, form::Form, subscribers, visit::Visit};
use crate::{
    App,
    http::answer::RefusalResponse,
    pages::{AccountError, AccountPage},
    people::end_cookie,
};
use axum::{
    extract::{Query, State},
    response::{IntoResponse as _, Response},
};
use countersign_engine::Refusal;
use http::StatusCode;
use std::collections::HashMap;

pub(super) async fn get(
    State(app): State<App>,
    visit: Visit,
    Query(told): Query<HashMap<String, String>>,
) -> Result<Response, RefusalResponse> {
    let page = page(&app, &visit).await?;
    let taken_back = match told.get("taken-back") {
        Some(id) => subscribers::taken_back(&app, &visit, id).await?,
        None => None,
    };
    let page = AccountPage { taken_back, ..page };
    Ok(answer::page(StatusCode::OK, &page.frame, &page))
}

pub(super) async fn sign_out(State(app): State<App>, visit: Visit, form: Form) -> Result<Response, RefusalResponse> {
    let who = visit.person()?;
    if let Err(refusal) = visit.own_form(&app, form.field("csrf")) {
        return Ok(expired(&app, &visit, &refusal).await?);
    }
    app.engine.people().sign_out(who).await?;
    Ok((end_cookie(), answer::see_other("/sign-in?signed-out")).into_response())
}

pub(super) async fn sign_out_everywhere(
    State(app): State<App>,
    visit: Visit,
    form: Form,
) -> Result<Response, RefusalResponse> {
    let who = visit.person()?;
    if let Err(refusal) = visit.own_form(&app, form.field("csrf")) {
        return Ok(expired(&app, &visit, &refusal).await?);
    }
    app.engine.people().sign_out_everywhere(who).await?;
    Ok((end_cookie(), answer::see_other("/sign-in?signed-out=everywhere")).into_response())
}

/// The CSRF token does not belong to this sign-in session: renders the page again with the error.
pub(super) async fn expired(app: &App, visit: &Visit, refusal: &Refusal) -> Result<Response, Refusal> {
    app.metrics.refused(refusal.code());
    let page = AccountPage { error: Some(AccountError::FormExpired), ..page(app, visit).await? };
    Ok(answer::page(StatusCode::FORBIDDEN, &page.frame, &page))
}

pub(super) async fn page(app: &App, visit: &Visit) -> Result<AccountPage, Refusal> {
    let who = visit.person()?;
    let (subscribers, new_subscriber) = subscribers::of(app, visit).await?;
    Ok(AccountPage {
        frame: visit.frame(app).await,
        username: who.person.subject.clone(),
        signed_in_at: who.session.started_at,
        expires_at: who.session.expires_at,
        subscribers,
        new_subscriber,
        csrf: visit.csrf(app)?,
        error: None,
        taken_back: None,
    })
}
