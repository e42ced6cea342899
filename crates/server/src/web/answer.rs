//! A page as an HTTP response, with its security headers.

use crate::pages::{Frame, Page, content_security_policy, listening_policy};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

/// The headers of every page. `same-origin` and not `no-referrer`: with the latter, browsers send `Origin: null` with
/// Countersign's own forms, which are then indistinguishable from cross-site ones.
const ALWAYS: [(HeaderName, &str); 8] = [
    (header::CONTENT_TYPE, "text/html; charset=utf-8"),
    (header::CACHE_CONTROL, "no-store"),
    (header::VARY, "accept-language, cookie"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// A page with forms that only post to this server.
pub(super) fn page(status: StatusCode, frame: &Frame, page: &impl Page) -> Response {
    page_leading_to(status, frame, page, None)
}

/// A page with a form that may be answered with a redirect to the origin of `callback`.
pub(super) fn page_leading_to(
    status: StatusCode,
    frame: &Frame,
    page: &impl Page,
    callback: Option<&url::Url>,
) -> Response {
    let origin = callback.map(|callback| callback.origin().ascii_serialization());
    under(&content_security_policy(origin.as_deref()), status, frame, page)
}

/// A page with a script that may open an event stream to this server.
pub(super) fn listening_page(status: StatusCode, frame: &Frame, page: &impl Page) -> Response {
    under(&listening_policy(), status, frame, page)
}

fn under(policy: &str, status: StatusCode, frame: &Frame, page: &impl Page) -> Response {
    let mut headers: HeaderMap =
        ALWAYS.into_iter().map(|(name, value)| (name, HeaderValue::from_static(value))).collect();
    headers.insert(header::CONTENT_LANGUAGE, HeaderValue::from_static(frame.language().tag()));
    let strictest = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_str(policy).unwrap_or(strictest));
    (status, headers, page.html()).into_response()
}

/// A redirect with GET. Its URL may carry a code, so nothing may cache it.
pub(super) fn see_other(to: &str) -> Response {
    let Ok(location) = HeaderValue::from_str(to) else { return StatusCode::INTERNAL_SERVER_ERROR.into_response() };
    let keep_nothing = HeaderValue::from_static("no-store");
    let tell_nobody = HeaderValue::from_static("no-referrer");
    let headers =
        [(header::LOCATION, location), (header::CACHE_CONTROL, keep_nothing), (header::REFERRER_POLICY, tell_nobody)];
    (StatusCode::SEE_OTHER, headers).into_response()
}

/// Encodes a text as a query value.
pub(super) fn in_query(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
