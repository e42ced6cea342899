//! Authenticates a subscriber: with a person's token, or with the person's own sign-in session.

use crate::{
    App,
    http::{
        answer::{self, RefusalResponse},
        caller::{Asker, bearer},
        request_id::RequestId,
    },
};
use axum::response::{IntoResponse, Response};
use countersign_engine::{Listener, ProjectAt, Refusal};
use countersign_protocol::aap::error::Code;
use http::{HeaderValue, header};

/// Why a request is not accepted as a subscriber.
#[derive(Debug)]
pub(super) enum NoListener {
    /// No credentials, or unknown ones: indistinguishable to the caller.
    Unproven,
    Refused(Refusal),
}

impl From<Refusal> for NoListener {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// A token takes precedence over a cookie. With a cookie, a write must come from Countersign's own pages, as
/// everywhere.
pub(super) async fn listener(app: &App, at: &ProjectAt, asker: &Asker) -> Result<Listener, NoListener> {
    if let Some(token) = bearer(&asker.headers) {
        return by_token(app, at, &token).await;
    }
    let who = asker.signed_in.as_ref().ok_or(NoListener::Unproven)?;
    asker.own_page(app, None)?;
    Ok(app.engine.events().subscriber_by_sign_in(at, who).await?)
}

pub(super) async fn by_token(app: &App, at: &ProjectAt, token: &str) -> Result<Listener, NoListener> {
    match app.engine.events().subscriber_by_token(at, token).await {
        Err(Refusal::NotAuthorized(_)) => Err(NoListener::Unproven),
        known => Ok(known?),
    }
}

impl NoListener {
    pub(super) fn response(self, id: &RequestId) -> Response {
        match self {
            Self::Refused(refusal) => RefusalResponse(refusal).into_response(),
            Self::Unproven => unproven(id),
        }
    }
}

/// One response for every failed authentication.
fn unproven(id: &RequestId) -> Response {
    let what = "this is for people's subscribers, and the request is not authenticated";
    let hint = "send Authorization: Bearer with a subscriber token, or sign in at /sign-in";
    let mut response = answer::plain(Code::SignInRequired, what.into(), Some(hint.into()), id);
    response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}
