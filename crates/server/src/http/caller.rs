//! The caller: a signed-in person, an operator, an agent or a key, authenticated by the request's credentials.

use super::{
    answer::RefusalResponse,
    cookie,
    credential::{BearerCredential, Nonce, SentTo},
    version,
};
use crate::App;
use axum::extract::FromRequestParts;
use countersign_engine::{Actor, ProjectAt, Refusal, SignedIn};
use http::{HeaderMap, Method, header, request::Parts};

/// The credentials of a request, not yet verified.
pub(crate) struct Asker {
    pub(crate) headers: HeaderMap,
    to: SentTo,
    nonce: Nonce,
    pub(crate) signed_in: Option<SignedIn>,
}

impl FromRequestParts<App> for Asker {
    type Rejection = RefusalResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, RefusalResponse> {
        let signed_in = match cookie::read(&parts.headers) {
            Some(secret) => app.engine.people().signed_in(&secret).await?,
            None => None,
        };
        Ok(Self { headers: parts.headers.clone(), to: SentTo::of(parts), nonce: Nonce::of(parts), signed_in })
    }
}

impl Asker {
    /// The authenticated caller; an operator may send its JWT in the body instead.
    pub(crate) async fn actor(
        &self,
        app: &App,
        at: &ProjectAt,
        operator_jwt: Option<&str>,
        source: &str,
    ) -> Result<Actor, Refusal> {
        let credential = BearerCredential::of(&self.headers, &self.to)?;
        version::check(&self.headers, credential.is_some() || operator_jwt.is_some())?;
        if let Some(credential) = credential {
            return self.by_credential(app, at, &credential, source).await;
        }
        if let Some(jwt) = operator_jwt {
            return app.engine.agents().operator_actor(at, jwt, source).await;
        }
        let who = self.signed_in.as_ref().ok_or(Refusal::NoCredentials)?;
        self.own_page(app, None)?;
        Ok(Actor::Person(Box::new(app.engine.people().member(who, at.project.key).await?)))
    }

    /// The agent that reports the end of its task, or repeats that report.
    pub(crate) async fn completing_agent(&self, app: &App, at: &ProjectAt) -> Result<Actor, Refusal> {
        let credential = BearerCredential::of(&self.headers, &self.to)?.filter(BearerCredential::is_access_token);
        let credential = credential.ok_or(Refusal::NoCredentials)?;
        version::check(&self.headers, true)?;
        self.nonce.give(app.engine.calls().nonce_for_calls_at(at));
        app.engine.agents().completing_agent(at, credential.presented(&credential.url(at))?).await
    }

    /// The caller for reading a record, where an agent need not prove possession of its key (AAP 18.2).
    pub(crate) async fn reader(&self, app: &App, at: &ProjectAt, source: &str) -> Result<Actor, Refusal> {
        match BearerCredential::of(&self.headers, &self.to)? {
            Some(credential) if credential.is_access_token() => {
                version::check(&self.headers, true)?;
                app.engine.agents().agent_without_proof(at, &credential.token).await
            }
            _ => self.actor(app, at, None, source).await,
        }
    }

    async fn by_credential(
        &self,
        app: &App,
        at: &ProjectAt,
        credential: &BearerCredential,
        source: &str,
    ) -> Result<Actor, Refusal> {
        if credential.is_operator_jwt() {
            return app.engine.agents().operator_actor(at, &credential.token, source).await;
        }
        self.nonce.give(app.engine.calls().nonce_for_calls_at(at));
        let url = credential.url(at);
        let presented = credential.presented(&url)?;
        match credential.is_api_key() {
            true => app.engine.people().key_actor(at, presented).await,
            false => app.engine.agents().agent_actor(at, presented).await,
        }
    }

    /// The signed-in person, or 401. Only a sign-in session counts here.
    pub(crate) fn person(&self) -> Result<&SignedIn, Refusal> {
        self.signed_in.as_ref().ok_or(Refusal::SignInRequired)
    }

    pub(crate) fn is_reading(&self) -> bool {
        matches!(self.to.method, Method::GET | Method::HEAD)
    }

    /// A write must come from Countersign's own pages: same origin, and the CSRF token of this sign-in session.
    pub(crate) fn own_page(&self, app: &App, form_token: Option<&str>) -> Result<(), Refusal> {
        if self.is_reading() {
            return Ok(());
        }
        same_origin(app, &self.headers)?;
        let who = self.person()?;
        let header = self.headers.get("x-csrf-token").and_then(|v| v.to_str().ok());
        let fits =
            form_token.or(header).is_some_and(|token| app.engine.people().verify_csrf_token(&who.session, token));
        if fits { Ok(()) } else { Err(Refusal::CsrfRejected) }
    }
}

/// Browsers send the origin of a request; a foreign one is refused.
pub(crate) fn same_origin(app: &App, headers: &HeaderMap) -> Result<(), Refusal> {
    let site = headers.get("sec-fetch-site").and_then(|v| v.to_str().ok());
    let origin = headers.get(header::ORIGIN).and_then(|v| v.to_str().ok());
    let foreign_site = site.is_some_and(|site| !matches!(site, "same-origin" | "none"));
    let foreign_origin = origin.is_some_and(|origin| !is_ours(app, origin));
    if foreign_site || foreign_origin { Err(Refusal::CsrfRejected) } else { Ok(()) }
}

/// The configured origin or, where subdomains are on, one directly below it.
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

/// The token of `Authorization: Bearer`, of a subscriber: those are not bound to a key.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().to_owned())
}
