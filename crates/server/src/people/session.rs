//! `/session`: signing in and out.

use crate::{
    App,
    http::{
        address::SourceNetwork,
        answer::{ErrorResponses, JsonResult, RefusalResponse},
        body::Json,
        caller::{Asker, same_origin},
        cookie,
    },
};
use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use countersign_engine::{Refusal, SignedIn};
use countersign_protocol::time::{UnixMillis, rfc3339};
use http::{HeaderMap, StatusCode, header};

#[derive(serde::Deserialize, utoipa::ToSchema)]
pub(crate) struct SignIn {
    name: String,
    password: String,
}

#[derive(serde::Deserialize, utoipa::ToSchema)]
pub(crate) struct Prove {
    password: String,
}

/// The signed-in person, and the CSRF token that writes need.
#[derive(serde::Serialize, utoipa::ToSchema)]
pub(crate) struct SignInSession {
    name: String,
    display_name: String,
    platform_admin: bool,
    csrf_token: String,
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    expires_at: UnixMillis,
    /// Until when the last authentication counts as fresh.
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    fresh_until: UnixMillis,
}

#[utoipa::path(
    get, path = "/session", tag = "people", security(("session" = [])),
    summary = "The signed-in person",
    responses((status = 200, description = "Signed in", body = SignInSession), ErrorResponses),
)]
pub(crate) async fn get(State(app): State<App>, asker: Asker) -> JsonResult<SignInSession> {
    Ok(axum::Json(session_document(&app, asker.person()?)?))
}

#[utoipa::path(
    post, path = "/session", tag = "people", request_body = SignIn,
    summary = "Sign in",
    responses((status = 201, description = "Signed in; the cookie is set", body = SignInSession), ErrorResponses),
)]
pub(crate) async fn post(
    State(app): State<App>,
    SourceNetwork(source): SourceNetwork,
    asker: Asker,
    Json(body): Json<SignIn>,
) -> Result<Response, RefusalResponse> {
    same_origin(&app, &asker.headers)?;
    let started = app.engine.people().sign_in(&body.name, &body.password, &source, asker.signed_in.as_ref()).await?;
    let who = app.engine.people().signed_in(&started.secret).await?.ok_or(Refusal::SignInFailed)?;
    Ok((StatusCode::CREATED, start_cookie(&app, &started.secret), axum::Json(session_document(&app, &who)?))
        .into_response())
}

/// Authenticates again: a new session with fresh authentication replaces the old one.
#[utoipa::path(
    post, path = "/session/fresh", tag = "people", security(("session" = [])), request_body = Prove,
    summary = "Authenticate again",
    params(("X-CSRF-Token" = String, Header, description = "The CSRF token of the sign-in session")),
    responses((status = 200, description = "Authenticated; a new cookie is set", body = SignInSession), ErrorResponses),
)]
pub(crate) async fn fresh(
    State(app): State<App>,
    SourceNetwork(source): SourceNetwork,
    asker: Asker,
    Json(body): Json<Prove>,
) -> Result<Response, RefusalResponse> {
    let who = asker.person()?;
    asker.own_page(&app, None)?;
    let started = app.engine.people().sign_in(&who.person.subject, &body.password, &source, Some(who)).await?;
    let who = app.engine.people().signed_in(&started.secret).await?.ok_or(Refusal::SignInFailed)?;
    Ok((start_cookie(&app, &started.secret), axum::Json(session_document(&app, &who)?)).into_response())
}

#[utoipa::path(
    delete, path = "/session", tag = "people", security(("session" = [])),
    summary = "Sign out",
    params(("X-CSRF-Token" = String, Header, description = "The CSRF token of the sign-in session")),
    responses((status = 204, description = "Signed out"), ErrorResponses),
)]
pub(crate) async fn delete(State(app): State<App>, asker: Asker) -> Result<Response, RefusalResponse> {
    let who = asker.person()?;
    asker.own_page(&app, None)?;
    app.engine.people().sign_out(who).await?;
    Ok((StatusCode::NO_CONTENT, end_cookie()).into_response())
}

#[utoipa::path(
    delete, path = "/session/everywhere", tag = "people", security(("session" = [])),
    summary = "Sign out on every device",
    params(("X-CSRF-Token" = String, Header, description = "The CSRF token of the sign-in session")),
    responses((status = 204, description = "Signed out everywhere"), ErrorResponses),
)]
pub(crate) async fn delete_everywhere(State(app): State<App>, asker: Asker) -> Result<Response, RefusalResponse> {
    let who = asker.person()?;
    asker.own_page(&app, None)?;
    app.engine.people().sign_out_everywhere(who).await?;
    Ok((StatusCode::NO_CONTENT, end_cookie()).into_response())
}

pub(crate) fn start_cookie(app: &App, secret: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.extend(cookie::set(secret, app.engine.settings().sign_in_lifetime_s).map(|v| (header::SET_COOKIE, v)));
    headers
}

pub(crate) fn end_cookie() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.extend(cookie::set("", 0).map(|v| (header::SET_COOKIE, v)));
    headers
}

fn session_document(app: &App, who: &SignedIn) -> Result<SignInSession, Refusal> {
    Ok(SignInSession {
        name: who.person.subject.clone(),
        display_name: who.person.display_name.clone(),
        platform_admin: who.person.platform_admin,
        csrf_token: app.engine.people().csrf_token(&who.session)?,
        expires_at: who.session.expires_at,
        fresh_until: app.engine.people().fresh_until(who),
    })
}
