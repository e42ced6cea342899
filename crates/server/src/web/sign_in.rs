//! `/sign-in`: with name and password, or with the password alone to authenticate again.

use super::{answer, form::Form, visit::Visit};
use crate::{
    App,
    http::{address::SourceNetwork, answer::RefusalResponse, caller::same_origin},
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
) -> Result<Response, RefusalResponse> {
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
    SourceNetwork(source): SourceNetwork,
    visit: Visit,
    form: Form,
) -> Result<Response, RefusalResponse> {
    let next = local_path(form.field("next")).unwrap_or(AFTERWARDS);
    match enter(&app, &visit, &form, &source).await {
        Ok(secret) => Ok((start_cookie(&app, &secret), answer::see_other(next)).into_response()),
        Err(SignInFailure::Form(error)) => Ok(again(&app, &visit, &form, next, error).await?),
        Err(SignInFailure::Refused(refusal)) => {
            let error = told(&refusal)?;
            app.metrics.refused(refusal.code());
            Ok(again(&app, &visit, &form, next, error).await?)
        }
    }
}

/// Why the sign-in failed: an incomplete form, or a refusal of the engine.
enum SignInFailure {
    Form(SignInError),
    Refused(Refusal),
}

impl From<Refusal> for SignInFailure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Returns the secret of the new sign-in session.
async fn enter(app: &App, visit: &Visit, form: &Form, source: &str) -> Result<String, SignInFailure> {
    let (name, password) = (form.field("username"), form.field("password"));
    // A form with a CSRF token was rendered for a signed-in person and is valid for nobody else.
    if form.field("csrf").is_empty() {
        same_origin(app, &visit.asker.headers)?;
    } else {
        proves_the_same_person(app, visit, form)?;
    }
    if name.is_empty() {
        return Err(SignInFailure::Form(SignInError::MissingUsername));
    }
    if password.is_empty() {
        return Err(SignInFailure::Form(SignInError::MissingPassword));
    }
    let started = app.engine.people().sign_in(name, password, source, visit.asker.signed_in.as_ref()).await?;
    Ok(started.secret)
}

fn proves_the_same_person(app: &App, visit: &Visit, form: &Form) -> Result<(), Refusal> {
    let who: &SignedIn = visit.asker.signed_in.as_ref().ok_or(Refusal::CsrfRejected)?;
    visit.own_form(app, form.field("csrf"))?;
    if who.person.subject == form.field("username") { Ok(()) } else { Err(Refusal::CsrfRejected) }
}

/// Errors that the sign-in page shows itself; any other refusal has a page of its own.
fn told(refusal: &Refusal) -> Result<SignInError, Refusal> {
    match refusal {
        Refusal::SignInFailed => Ok(SignInError::Wrong),
        Refusal::TooManyAttempts { retry_after_s } => Ok(SignInError::TooManyTries { retry_after_s: *retry_after_s }),
        Refusal::CsrfRejected => Ok(SignInError::FormExpired),
        other => Err(other.clone()),
    }
}

/// Renders the page again with the error.
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

/// The empty form.
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
