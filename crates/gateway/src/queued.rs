//! The answer to an approved call that is held for its undo window (AAP 14.1).

use bytes::Bytes;
use countersign_engine::Refusal;
use countersign_protocol::aap::undo::QueuedResponse;
use http::{HeaderValue, Response, StatusCode, header};

/// 202, with the URL that undoes the call.
pub(crate) fn queued_response(queued: &QueuedResponse) -> Result<Response<Bytes>, Refusal> {
    let body = serde_json::to_vec(queued).map_err(|_| Refusal::Internal)?;
    let mut response = Response::new(Bytes::from(body));
    *response.status_mut() = StatusCode::ACCEPTED;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
