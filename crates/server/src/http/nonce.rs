//! `DPoP-Nonce` on responses, refusals and successes alike (AAP 18.4, C-27).

use axum::{extract::Request, response::Response};
use countersign_protocol::aap::dpop::NONCE_HEADER;
use http::{HeaderValue, request::Parts};
use std::sync::{Arc, OnceLock};

/// The nonce for the response. The extractor that authenticates the caller fills it; the outermost layer, which also
/// sees refusals, writes it.
#[derive(Clone, Default)]
pub(crate) struct Nonce(Arc<OnceLock<HeaderValue>>);

impl Nonce {
    /// Adds an empty slot to a request.
    pub(crate) fn awaited(request: &mut Request) -> Self {
        let nonce = Self::default();
        request.extensions_mut().insert(nonce.clone());
        nonce
    }

    pub(crate) fn of(parts: &Parts) -> Self {
        parts.extensions.get::<Self>().cloned().unwrap_or_default()
    }

    pub(crate) fn give(&self, nonce: Option<String>) {
        if let Some(value) = nonce.and_then(|nonce| HeaderValue::from_str(&nonce).ok()) {
            let _given_before = self.0.set(value);
        }
    }

    pub(crate) fn told(&self, mut response: Response) -> Response {
        if let Some(nonce) = self.0.get() {
            response.headers_mut().insert(NONCE_HEADER, nonce.clone());
        }
        response
    }
}
