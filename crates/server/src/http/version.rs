//! Version headers on every AAP answer, and the check on every AAP request (AAP 22, C-11, C-84).

use super::answer::Refused;
use axum::{
    extract::{FromRequestParts, Request},
    middleware::Next,
    response::Response,
};
use countersign_engine::Refusal;
use countersign_protocol::aap::version;
use http::{HeaderMap, HeaderValue, request::Parts};

/// Says which version was served, whatever the answer is: this stands outside of all that can go wrong (C-84).
pub(crate) async fn headers(request: Request, next: Next) -> Response {
    if !is_aap(request.uri().path()) {
        return next.run(request).await;
    }
    let asked = asked(request.headers());
    let served = version::negotiate(asked.as_deref(), version::ACCEPTED).unwrap_or(version::PREFERRED);
    let mut response = next.run(request).await;
    response.headers_mut().insert(version::SERVED, HeaderValue::from_static(served));
    if let Ok(list) = HeaderValue::from_str(&version::list(version::ACCEPTED)) {
        response.headers_mut().insert(version::ACCEPTED_HEADER, list);
    }
    response
}

/// Whoever names a version must name one that is served, before anything else is looked at (AAP 22.2, C-93).
pub(crate) async fn only_ours(request: Request, next: Next) -> Result<Response, Refused> {
    check(request.headers(), false)?;
    Ok(next.run(request).await)
}

/// An agent speaks: it must say a version that we serve.
pub(crate) struct Spoken;

impl<S: Sync> FromRequestParts<S> for Spoken {
    type Rejection = Refused;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refused> {
        check(&parts.headers, true)?;
        Ok(Self)
    }
}

/// People's browsers need not name a version; whoever names one must name one that is served.
pub(crate) fn check(headers: &HeaderMap, required: bool) -> Result<(), Refusal> {
    let asked = asked(headers);
    match version::negotiate(asked.as_deref(), version::ACCEPTED) {
        Some(_) => Ok(()),
        None => match asked {
            Some(asked) => Err(Refusal::VersionUnsupported(asked.chars().take(20).collect())),
            None if required => Err(Refusal::VersionMissing),
            None => Ok(()),
        },
    }
}

/// What the request asks for. A header that stands twice asks for a list, and no list is a version.
fn asked(headers: &HeaderMap) -> Option<String> {
    let values: Vec<&str> =
        headers.get_all(version::HEADER).iter().map(|v| v.to_str().unwrap_or("unreadable")).collect();
    if values.is_empty() { None } else { Some(values.join(", ")) }
}

/// The well-known documents and everything below `/agent`, of a project or not, found or not.
fn is_aap(path: &str) -> bool {
    let scoped = path.strip_prefix("/projects/").and_then(|rest| rest.split_once('/')).map(|(_, below)| below);
    let below = scoped.unwrap_or(path.trim_start_matches('/'));
    path.starts_with("/.well-known/agent-") || below == "agent" || below.starts_with("agent/")
}
