//! Host and origin checks of the legacy endpoints: Countersign's own host names, and no unlisted cross-origin page
//!

use crate::{App, http::caller::is_ours};
use axum::response::{IntoResponse, Response};
use countersign_engine::Refusal;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

/// The allowed cross-origin page of the request, if any.
pub(super) struct LegacyPageOrigin(Option<HeaderValue>);

/// Runs before the token check, so that neither refusal reveals anything about the token.
pub(super) fn check(app: &App, headers: &HeaderMap) -> Result<LegacyPageOrigin, Refusal> {
    let host = headers.get(header::HOST).and_then(|v| v.to_str().ok()).unwrap_or_default();
    if !is_our_host(app, host) {
        return Err(Refusal::NotFound("there is nothing at this address".into()));
    }
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(LegacyPageOrigin(None)) };
    let said = origin.to_str().unwrap_or_default();
    let listed = app.legacy.allowed().legacy_origins.iter().any(|allowed| allowed.as_str() == said);
    match listed {
        true => Ok(LegacyPageOrigin(Some(origin.clone()))),
        false if is_ours(app, said) => Ok(LegacyPageOrigin(None)),
        false => Err(Refusal::CsrfRejected),
    }
}

/// A foreign host name that resolves to this machine indicates DNS rebinding, which bypasses the same-origin policy.
fn is_our_host(app: &App, host: &str) -> bool {
    let settings = app.engine.settings();
    let ours = settings.origin.authority();
    let below = |host: &str| settings.subdomains && host.ends_with(&format!(".{ours}"));
    let host = host.to_ascii_lowercase();
    host == ours || below(&host) || app.legacy.allowed().legacy_hosts.contains(&host)
}

/// Adds the CORS header that lets the page read the response.
pub(super) fn allowed(page: LegacyPageOrigin, mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    if let LegacyPageOrigin(Some(origin)) = page {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    }
    response
}

pub(super) fn preflight(page: LegacyPageOrigin) -> Response {
    let mut response = allowed(page, StatusCode::NO_CONTENT.into_response());
    let may: [(HeaderName, &'static str); 3] = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "content-type, cache-control, last-event-id"),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    response.headers_mut().extend(may.map(|(name, value)| (name, HeaderValue::from_static(value))));
    response
}
