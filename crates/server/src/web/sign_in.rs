//! `/sign-in`: with name and password, or with the password alone to prove presence again.

use super::{answer, form::Form, visit::Visit};
use crate::{
    App,
    http::{address::Source, answer::Refused, asker::same_origin},
    pages::{SignInError, SignInNotice, SignInPage, SignInPurpose, local_path},
    people::start_cookie,
};
use axum::{
    extract::{Query, State},
    response::{IntoResponse as _, Response},
};
use countersign_engine::{Refusal, SignedIn};
use http::{HeaderValue, StatusCode, header};
use std::collections::HashMap;

const AFTERWARDS: &str = "/agents";

pub(super) async fn get(
    State(app): State<App>,
    visit: Visit,
    Query(asked): Query<HashMap<String, String>>,
) -> Result<Response, Refused> {
    let next = asked.get("next").and_then(|next| local_path(next)).unwrap_or(AFTERWARDS);
    let wants_proof = asked.contains_key("fresh");
    if visit.asker.signed_in.is_some() && !wants_proof {
        return Ok(answer::see_other(next));
    }
    let notice = asked.get("signed-out").map(|which| match which.as_str() {
        "everywhere" => SignInNotice::SignedOutEverywhere,
        _ => SignInNotice::SignedOut,
    });
    let page = SignInPage { notice, ..blank(&app, &visit, next).await? };
    Ok(answer::page(StatusCode::OK, &page.frame, &page))
}

pub(super) async fn post(
    State(app): State<App>,
    Source(source): Source,
    visit: Visit,
    form: Form,
) -> Result<Response, Refused> {
    let next = local_path(form.field("next")).unwrap_or(AFTERWARDS);
    match enter(&app, &visit, &form, &source).await {
        Ok(secret) => Ok((start_cookie(&app, &secret), answer::see_other(next)).into_response()),
        Err(Trouble::Form(error)) => Ok(again(&app, &visit, &form, next, error).await?),
        Err(Trouble::Refused(refusal)) => {
            let error = told(&refusal)?;
            app.metrics.refused(refusal.code());
            Ok(again(&app, &visit, &form, next, error).await?)
        }
    }
}

/// Why nobody was let in: the form was not filled in, or the engine said no.
enum Trouble {
    Form(SignInError),
    Refused(Refusal),
}

impl From<Refusal> for Trouble {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// The secret of the session that was started.
async fn enter(app: &App, visit: &Visit, form: &Form, source: &str) -> Result<String, Trouble> {
    let (name, password) = (form.field("username"), form.field("password"));
    // A form with a token was drawn for somebody who is signed in, and counts for nobody else.
    if form.field("csrf").is_empty() {
        same_origin(app, &visit.asker.headers)?;
    } else {
        proves_the_same_person(app, visit, form)?;
    }
    if name.is_empty() {
        return Err(Trouble::Form(SignInError::MissingUsername));
    }
    if password.is_empty() {
        return Err(Trouble::Form(SignInError::MissingPassword));
    }
    let started = app.engine.sign_in(name, password, source, visit.asker.signed_in.as_ref()).await?;
    Ok(started.secret)
}

fn proves_the_same_person(app: &App, visit: &Visit, form: &Form) -> Result<(), Refusal> {
    let who: &SignedIn = visit.asker.signed_in.as_ref().ok_or(Refusal::CsrfRejected)?;
    visit.own_form(app, form.field("csrf"))?;
    if who.person.subject == form.field("username") { Ok(()) } else { Err(Refusal::CsrfRejected) }
}

/// What the page can say itself; anything else is a page of its own.
fn told(refusal: &Refusal) -> Result<SignInError, Refusal> {
    match refusal {
        Refusal::SignInFailed => Ok(SignInError::Wrong),
        Refusal::TooManyAttempts { retry_after_s } => Ok(SignInError::TooManyTries { retry_after_s: *retry_after_s }),
        Refusal::CsrfRejected => Ok(SignInError::FormExpired),
        other => Err(other.clone()),
    }
}

/// The page once more, with what went wrong.
async fn again(app: &App, visit: &Visit, form: &Form, next: &str, error: SignInError) -> Result<Response, Refusal> {
    let blank = blank(app, visit, next).await?;
    let username = match blank.purpose {
        SignInPurpose::SignIn => form.field("username").to_owned(),
        SignInPurpose::Confirm => blank.username.clone(),
    };
    let page = SignInPage { username, error: Some(error), ..blank };
    let mut response = answer::page(status(error), &page.frame, &page);
    if let SignInError::TooManyTries { retry_after_s } = error {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(retry_after_s));
    }
    Ok(response)
}

fn status(error: SignInError) -> StatusCode {
    match error {
        SignInError::MissingUsername | SignInError::MissingPassword => StatusCode::UNPROCESSABLE_ENTITY,
        SignInError::Wrong => StatusCode::UNAUTHORIZED,
        SignInError::TooManyTries { .. } => StatusCode::TOO_MANY_REQUESTS,
        SignInError::FormExpired => StatusCode::FORBIDDEN,
    }
}

/// The form as it is before anybody has typed.
async fn blank(app: &App, visit: &Visit, next: &str) -> Result<SignInPage, Refusal> {
    let who = visit.asker.signed_in.as_ref();
    Ok(SignInPage {
        frame: visit.frame(app).await,
        purpose: if who.is_some() { SignInPurpose::Confirm } else { SignInPurpose::SignIn },
        next: next.to_owned(),
        username: who.map(|who| who.person.subject.clone()).unwrap_or_default(),
        csrf: who.map(|_| visit.csrf(app)).transpose()?.unwrap_or_default(),
        error: None,
        notice: None,
    })
}
