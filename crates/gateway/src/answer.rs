//! The gateway's own responses, and the headers of every response.

use crate::{
    headers::{DPOP_NONCE, REQUEST_ID},
    refusal::envelope,
};
use bytes::Bytes;
use countersign_engine::{Refusal, Scheme};
use countersign_protocol::aap::version;
use http::{HeaderMap, HeaderName, HeaderValue, Response};

const VERSION_SERVED: HeaderName = HeaderName::from_static(version::SERVED);

/// A refusal in the error envelope.
pub(crate) fn refusal_response(refusal: &Refusal, request_id: &str, scheme: Scheme) -> Response<Bytes> {
    envelope(refusal, request_id, scheme).map(Bytes::from)
}

/// The request id, the version, and the nonce for the next proof where nonces are on (C-27).
pub(crate) fn add_response_headers(headers: &mut HeaderMap, request_id: &str, nonce: Option<String>) {
    headers.insert(VERSION_SERVED, HeaderValue::from_static(version::PREFERRED));
    if let Ok(id) = HeaderValue::from_str(request_id) {
        headers.insert(REQUEST_ID, id);
    }
    if let Some(nonce) = nonce.and_then(|nonce| HeaderValue::try_from(nonce).ok()) {
        headers.insert(DPOP_NONCE, nonce);
    }
}
