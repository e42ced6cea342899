//! Refusals as answers: one envelope everywhere (AAP 16.1).

use super::request_id::RequestId;
use axum::response::{IntoResponse, Response};
use countersign_engine::Refusal;
use countersign_protocol::aap::{
    error::{Code, Envelope},
    manifest, version,
};
use http::{HeaderValue, StatusCode, header};

/// A refusal on its way out. It becomes an envelope in [`super::layers::envelope`], which knows the request's name.
#[derive(Clone, Debug)]
pub(crate) struct Refused(pub(crate) Refusal);

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        Self(refusal)
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.0.code().status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// The envelope of a refusal, with the headers that belong to it.
pub(crate) fn envelope(refusal: &Refusal, id: &RequestId) -> Response {
    let hint = Some(refusal.hint());
    let mut response = plain(refusal.code(), refusal.to_string(), hint, id);
    let headers = response.headers_mut();
    if let Some(reason) = refusal.revoke_reason() {
        headers.insert("x-agent-revoke-reason", HeaderValue::from_static(reason.as_str()));
    }
    if let Some(seconds) = refusal.retry_after_s() {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    if *refusal == Refusal::NoCredentials {
        headers.insert(header::WWW_AUTHENTICATE, challenge());
    }
    if refusal.code() == Code::SpecVersionUnsupported
        && let Ok(list) = HeaderValue::from_str(&version::list(version::ACCEPTED))
    {
        headers.insert(version::ACCEPTED_HEADER, list.clone());
        headers.insert(version::REQUIRED_HEADER, list);
    }
    response
}

/// An envelope for a code without a refusal behind it: what HTTP itself turned down.
pub(crate) fn plain(code: Code, description: String, hint: Option<String>, id: &RequestId) -> Response {
    let body = Envelope { error: code, error_description: description, hint, request_id: id.0.clone(), docs_url: None };
    let status = StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, axum::Json(body)).into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.extensions_mut().insert(Enveloped);
    response
}

/// Marks a body that is an envelope already.
#[derive(Clone, Copy)]
pub(crate) struct Enveloped;

/// Where an agent without credentials finds out how to get some (AAP 3).
fn challenge() -> HeaderValue {
    let text = format!("Bearer agent_auth_required=\"{}\"", manifest::PATH);
    HeaderValue::from_str(&text).unwrap_or_else(|_| HeaderValue::from_static("Bearer"))
}
