//! An id for every request, the same in the log, in the header and in the envelope.

use axum::{
    extract::{FromRequestParts, Request},
    middleware::Next,
    response::Response,
};
use http::{HeaderName, HeaderValue, request::Parts};
use std::convert::Infallible;
use tracing::Instrument as _;

pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-request-id");

#[derive(Clone, Debug)]
pub(crate) struct RequestId(pub(crate) String);

impl<S: Sync> FromRequestParts<S> for RequestId {
    type Rejection = Infallible;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_else(|| Self("req_unknown".into())))
    }
}

/// Assigns the id, logs the end of the request, and returns the id in a header. Paths are logged without their query
/// and without possible secrets.
pub(crate) async fn name(
    axum::extract::State(app): axum::extract::State<crate::App>,
    mut request: Request,
    next: Next,
) -> Response {
    let id = RequestId(app.request_ids.mint());
    let span = tracing::info_span!("request", request_id = %id.0);
    let method = request.method().clone();
    let path = loggable(request.uri().path());
    request.extensions_mut().insert(id.clone());
    let mut response = next.run(request).instrument(span.clone()).await;
    let status = response.status().as_u16();
    app.metrics.answered(status);
    span.in_scope(|| tracing::info!(%method, path, status, "answered"));
    if let Ok(value) = HeaderValue::from_str(&id.0) {
        response.headers_mut().insert(HEADER, value);
    }
    response
}

/// The id of a connection request opens its page, so only its beginning is logged. A subscriber token in a URL is a
/// complete credential, so nothing of it is logged.
fn loggable(path: &str) -> String {
    if let Some((before, behind)) = path.split_once(LEGACY) {
        let end = behind.split_once('/').map(|(_, end)| end).filter(|end| matches!(*end, "events" | "messages"));
        let before: String = before.chars().take(200).collect();
        return format!("{before}{LEGACY}…/{}", end.unwrap_or("…"));
    }
    match path.strip_prefix("/connect/") {
        Some(id) => format!("/connect/{}…", id.chars().take(9).collect::<String>()),
        // Also redacts a token that a client put into another path by mistake.
        None => path.split_inclusive("cst_").next().unwrap_or_default().chars().take(200).collect(),
    }
}

const LEGACY: &str = "/aaep/legacy/";

#[cfg(test)]
mod tests {
    use super::loggable;

    ///
    #[test]
    fn nothing_of_a_token_in_an_address_is_logged() {
        let token = "cst_abcdefghijklmnopqrstuvwxyz";
        for (path, logged) in [
            (format!("/aaep/legacy/{token}/events"), "/aaep/legacy/…/events"),
            (format!("/projects/north/aaep/legacy/{token}/messages"), "/projects/north/aaep/legacy/…/messages"),
            (format!("/aaep/legacy/{token}"), "/aaep/legacy/…/…"),
            (format!("/aaep/legacy/{token}/{token}"), "/aaep/legacy/…/…"),
            (format!("/aaep/legacy/x/aaep/legacy/{token}/events"), "/aaep/legacy/…/…"),
            (format!("/aaep/v1/events/{token}"), "/aaep/v1/events/cst_"),
        ] {
            assert_eq!(loggable(&path), logged);
        }
    }

    #[test]
    fn of_a_connect_request_only_the_beginning_is_logged() {
        assert_eq!(loggable("/connect/req_0123456789abcdef"), "/connect/req_01234…");
        assert_eq!(loggable("/agent/register"), "/agent/register");
    }
}
