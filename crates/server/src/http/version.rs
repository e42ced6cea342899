//! Version headers on every AAP response, and the check on every AAP request (AAP 22, C-11, C-84).

use super::answer::RefusalResponse;
use axum::{
    extract::{FromRequestParts, Request, State},
    middleware::Next,
    response::Response,
};
use countersign_engine::Refusal;
use countersign_protocol::aap::version;
use http::{HeaderMap, HeaderValue, request::Parts};

/// The versions that a router accepts, oldest first.
pub(crate) type AcceptedVersions = &'static [&'static str];

/// Adds the served version to every response: this layer is outside of everything that can fail (C-84).
pub(crate) async fn headers(State(accepted): State<AcceptedVersions>, request: Request, next: Next) -> Response {
    if !is_aap(request.uri().path()) {
        return next.run(request).await;
    }
    let asked = requested_version(request.headers());
    let served = version::served(asked.as_deref(), accepted);
    let mut response = next.run(request).await;
    response.headers_mut().insert(version::SERVED, HeaderValue::from_static(served));
    if let Ok(list) = HeaderValue::from_str(&version::list(accepted)) {
        response.headers_mut().insert(version::ACCEPTED_HEADER, list);
    }
    response
}

/// A request that names a version must name a supported one, before anything else is checked (AAP 22.2, C-93).
pub(crate) async fn require_supported(request: Request, next: Next) -> Result<Response, RefusalResponse> {
    check(request.headers(), false)?;
    Ok(next.run(request).await)
}

/// Requires a supported version in an agent's request.
pub(crate) struct VersionHeader;

impl<S: Sync> FromRequestParts<S> for VersionHeader {
    type Rejection = RefusalResponse;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, RefusalResponse> {
        check(&parts.headers, true)?;
        Ok(Self)
    }
}

/// Browsers need not name a version; a named version must be supported.
pub(crate) fn check(headers: &HeaderMap, required: bool) -> Result<(), Refusal> {
    let asked = requested_version(headers);
    match version::negotiate(asked.as_deref(), version::ACCEPTED) {
        Some(_) => Ok(()),
        None => match asked {
            Some(asked) => Err(Refusal::VersionUnsupported(asked.chars().take(20).collect())),
            None if required => Err(Refusal::VersionMissing),
            None => Ok(()),
        },
    }
}

/// The requested version. A repeated header yields a list, which is never a valid version.
fn requested_version(headers: &HeaderMap) -> Option<String> {
    let values: Vec<&str> =
        headers.get_all(version::HEADER).iter().map(|v| v.to_str().unwrap_or("unreadable")).collect();
    if values.is_empty() { None } else { Some(values.join(", ")) }
}

/// The well-known documents and everything below `/agent`, with or without a project, found or not.
fn is_aap(path: &str) -> bool {
    let scoped = path.strip_prefix("/projects/").and_then(|rest| rest.split_once('/')).map(|(_, below)| below);
    let below = scoped.unwrap_or(path.trim_start_matches('/'));
    path.starts_with("/.well-known/agent-") || below == "agent" || below.starts_with("agent/")
}

#[cfg(test)]
mod tests;
