//! `/account`, and the two ways to sign out.

use super::{answer, form::Form, visit::Visit};
use crate::{App, http::answer::Refused, pages::AccountPage, people::end_cookie};
use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use countersign_engine::Refusal;
use http::StatusCode;

pub(super) async fn get(State(app): State<App>, visit: Visit) -> Result<Response, Refused> {
    Ok(shown(&app, &visit, StatusCode::OK).await?)
}

pub(super) async fn sign_out(State(app): State<App>, visit: Visit, form: Form) -> Result<Response, Refused> {
    let who = visit.person()?;
    if let Err(refusal) = visit.own_form(&app, form.field("csrf")) {
        return Ok(again(&app, &visit, &refusal).await?);
    }
    app.engine.sign_out(who).await?;
    Ok((end_cookie(), answer::see_other("/sign-in?signed-out")).into_response())
}

pub(super) async fn sign_out_everywhere(State(app): State<App>, visit: Visit, form: Form) -> Result<Response, Refused> {
    let who = visit.person()?;
    if let Err(refusal) = visit.own_form(&app, form.field("csrf")) {
        return Ok(again(&app, &visit, &refusal).await?);
    }
    app.engine.sign_out_everywhere(who).await?;
    Ok((end_cookie(), answer::see_other("/sign-in?signed-out=everywhere")).into_response())
}

/// The form was not of this session: the page once more, saying so.
async fn again(app: &App, visit: &Visit, refusal: &Refusal) -> Result<Response, Refusal> {
    app.metrics.refused(refusal.code());
    shown(app, visit, StatusCode::FORBIDDEN).await
}

async fn shown(app: &App, visit: &Visit, status: StatusCode) -> Result<Response, Refusal> {
    let who = visit.person()?;
    let frame = visit.frame(app).await;
    let page = AccountPage {
        frame: frame.clone(),
        username: who.person.subject.clone(),
        signed_in_at: who.session.started_at,
        expires_at: who.session.expires_at,
        csrf: visit.csrf(app)?,
        form_expired: status == StatusCode::FORBIDDEN,
    };
    Ok(answer::page(status, &frame, &page))
}
