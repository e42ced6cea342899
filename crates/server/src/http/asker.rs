//! Who asks: a signed-in person, an operator, an agent or a key, as proven by what the request carries.

use super::{answer::Refused, cookie, version};
use crate::App;
use axum::extract::FromRequestParts;
use countersign_engine::{Actor, ProjectAt, Refusal, SignedIn};
use http::{HeaderMap, Method, header, request::Parts};

/// The credentials of a request, not yet looked at.
pub(crate) struct Asker {
    pub(crate) headers: HeaderMap,
    method: Method,
    pub(crate) signed_in: Option<SignedIn>,
}

impl FromRequestParts<App> for Asker {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Refused> {
        let signed_in = match cookie::read(&parts.headers) {
            Some(secret) => app.engine.signed_in(&secret).await?,
            None => None,
        };
        Ok(Self { headers: parts.headers.clone(), method: parts.method.clone(), signed_in })
    }
}

impl Asker {
    /// Whoever the request proves to come from; an operator may prove itself in the body instead.
    pub(crate) async fn actor(
        &self,
        app: &App,
        at: &ProjectAt,
        operator_jwt: Option<&str>,
        source: &str,
    ) -> Result<Actor, Refusal> {
        let bearer = bearer(&self.headers);
        version::check(&self.headers, bearer.is_some() || operator_jwt.is_some())?;
        if let Some(token) = bearer.as_deref() {
            return self.by_bearer(app, at, token, source).await;
        }
        if let Some(jwt) = operator_jwt {
            return app.engine.operator_actor(at, jwt, source).await;
        }
        let who = self.signed_in.as_ref().ok_or(Refusal::NoCredentials)?;
        self.own_page(app, None)?;
        Ok(Actor::Person(Box::new(app.engine.member(who, at.project.key).await?)))
    }

    async fn by_bearer(&self, app: &App, at: &ProjectAt, token: &str, source: &str) -> Result<Actor, Refusal> {
        match token {
            key if key.starts_with("csk_") => app.engine.key_actor(at, key).await,
            jwt if jwt.matches('.').count() == 2 => app.engine.operator_actor(at, jwt, source).await,
            token => app.engine.agent_actor(at, token).await,
        }
    }

    /// The signed-in person, or 401. Nothing but a session counts here.
    pub(crate) fn person(&self) -> Result<&SignedIn, Refusal> {
        self.signed_in.as_ref().ok_or(Refusal::SignInRequired)
    }

    pub(crate) fn is_reading(&self) -> bool {
        matches!(self.method, Method::GET | Method::HEAD)
    }

    /// A change must come from our own pages: same origin, and the token of this session.
    pub(crate) fn own_page(&self, app: &App, form_token: Option<&str>) -> Result<(), Refusal> {
        if self.is_reading() {
            return Ok(());
        }
        same_origin(app, &self.headers)?;
        let who = self.person()?;
        let header = self.headers.get("x-csrf-token").and_then(|v| v.to_str().ok());
        let fits = form_token.or(header).is_some_and(|token| app.engine.csrf_fits(&who.session, token));
        if fits { Ok(()) } else { Err(Refusal::CsrfRejected) }
    }
}

/// Browsers say where a request comes from; one that says elsewhere is refused.
pub(crate) fn same_origin(app: &App, headers: &HeaderMap) -> Result<(), Refusal> {
    let site = headers.get("sec-fetch-site").and_then(|v| v.to_str().ok());
    let origin = headers.get(header::ORIGIN).and_then(|v| v.to_str().ok());
    let foreign_site = site.is_some_and(|site| !matches!(site, "same-origin" | "none"));
    let foreign_origin = origin.is_some_and(|origin| !is_ours(app, origin));
    if foreign_site || foreign_origin { Err(Refusal::CsrfRejected) } else { Ok(()) }
}

/// Our origin, or where subdomains are on, one directly below it.
pub(crate) fn is_ours(app: &App, origin: &str) -> bool {
    let settings = app.engine.settings();
    let base = &settings.origin;
    let suffix = format!(".{}", base.authority());
    origin == base.as_str()
        || (settings.subdomains
            && origin.split_once("://").is_some_and(|(scheme, authority)| {
                base.as_str().starts_with(&format!("{scheme}://")) && authority.ends_with(&suffix)
            }))
}

/// The token behind `Authorization: Bearer`.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().to_owned())
}
