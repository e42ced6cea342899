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

/// Says which version was served, errors included.
pub(crate) async fn headers(request: Request, next: Next) -> Response {
    let asked = request.headers().get(version::HEADER).and_then(|v| v.to_str().ok()).map(str::to_owned);
    let served = version::negotiate(asked.as_deref(), version::ACCEPTED).unwrap_or(version::PREFERRED);
    let mut response = next.run(request).await;
    response.headers_mut().insert(version::SERVED, HeaderValue::from_static(served));
    if let Ok(list) = HeaderValue::from_str(&version::list(version::ACCEPTED)) {
        response.headers_mut().insert(version::ACCEPTED_HEADER, list);
    }
    response
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
    let asked = headers.get(version::HEADER).map(|v| v.to_str().unwrap_or("unreadable"));
    match version::negotiate(asked, version::ACCEPTED) {
        Some(_) => Ok(()),
        None => match asked {
            Some(asked) => Err(Refusal::VersionUnsupported(asked.chars().take(20).collect())),
            None if required => Err(Refusal::VersionMissing),
            None => Ok(()),
        },
    }
}
