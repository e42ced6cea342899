//! Who may come by such an address at all: a name of ours, and no page elsewhere that is not on the list.

use crate::{App, http::asker::is_ours};
use axum::response::{IntoResponse, Response};
use countersign_engine::Refusal;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

/// The page elsewhere that asks, if one does and may.
pub(super) struct Page(Option<HeaderValue>);

/// Looked at before the token is, so that neither answer says anything about it.
pub(super) fn check(app: &App, headers: &HeaderMap) -> Result<Page, Refusal> {
    let host = headers.get(header::HOST).and_then(|v| v.to_str().ok()).unwrap_or_default();
    if !is_our_host(app, host) {
        return Err(Refusal::NotFound("there is nothing at this address".into()));
    }
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(Page(None)) };
    let said = origin.to_str().unwrap_or_default();
    let listed = app.legacy.allowed().legacy_origins.iter().any(|allowed| allowed.as_str() == said);
    match listed {
        true => Ok(Page(Some(origin.clone()))),
        false if is_ours(app, said) => Ok(Page(None)),
        false => Err(Refusal::CsrfRejected),
    }
}

/// A name that leads to this machine without being ours is how a page gets round the origin of its own.
fn is_our_host(app: &App, host: &str) -> bool {
    let settings = app.engine.settings();
    let ours = settings.origin.authority();
    let below = |host: &str| settings.subdomains && host.ends_with(&format!(".{ours}"));
    let host = host.to_ascii_lowercase();
    host == ours || below(&host) || app.legacy.allowed().legacy_hosts.contains(&host)
}

/// Lets the page read the answer.
pub(super) fn allowed(page: Page, mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    if let Page(Some(origin)) = page {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    }
    response
}

pub(super) fn preflight(page: Page) -> Response {
    let mut response = allowed(page, StatusCode::NO_CONTENT.into_response());
    let may: [(HeaderName, &'static str); 3] = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "content-type, cache-control, last-event-id"),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    response.headers_mut().extend(may.map(|(name, value)| (name, HeaderValue::from_static(value))));
    response
}
