//! Refusals as answers: one envelope everywhere (AAP 16.1).

use super::request_id::RequestId;
use axum::response::{IntoResponse, Response};
use countersign_engine::{Refusal, Scheme};
use countersign_protocol::aap::error::{Code, Envelope};
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

/// The envelope of a refusal, as every enforcement point tells it.
pub(crate) fn envelope(refusal: &Refusal, id: &RequestId, scheme: Scheme) -> Response {
    let mut response = countersign_gateway::envelope(refusal, &id.0, scheme).into_response();
    response.extensions_mut().insert(Enveloped);
    response
}

/// An envelope for a code without a refusal behind it: what HTTP itself turned down.
pub(crate) fn plain(code: Code, description: String, hint: Option<String>, id: &RequestId) -> Response {
    let body = Envelope {
        error: code,
        error_description: description,
        hint,
        request_id: id.0.clone(),
        docs_url: None,
        decision: None,
        clarification: None,
    };
    let status = StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, axum::Json(body)).into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.extensions_mut().insert(Enveloped);
    response
}

/// Marks a body that is an envelope already.
#[derive(Clone, Copy)]
pub(crate) struct Enveloped;
