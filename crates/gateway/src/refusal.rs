//! A refusal as an HTTP answer: the envelope, and the headers that belong to it (AAP 16.1).

use countersign_engine::Refusal;
use countersign_protocol::aap::{
    error::{Code, Envelope},
    manifest, version,
};
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};

/// The envelope of a refusal.
pub fn envelope(refusal: &Refusal, request_id: &str) -> Response<String> {
    let code = refusal.code();
    let body = Envelope {
        error: code,
        error_description: refusal.to_string(),
        hint: Some(refusal.hint()),
        request_id: request_id.to_owned(),
        docs_url: None,
    };
    let mut response = Response::new(serde_json::to_string(&body).unwrap_or_default());
    *response.status_mut() = StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    add_headers(refusal, headers);
    response
}

fn add_headers(refusal: &Refusal, headers: &mut HeaderMap) {
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
}

/// Where an agent without credentials finds out how to get some (AAP 3).
fn challenge() -> HeaderValue {
    let text = format!("Bearer agent_auth_required=\"{}\"", manifest::PATH);
    HeaderValue::from_str(&text).unwrap_or_else(|_| HeaderValue::from_static("Bearer"))
}
