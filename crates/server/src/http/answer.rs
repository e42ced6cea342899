//! Refusals as responses: one envelope everywhere (AAP 16.1).

use super::request_id::RequestId;
use axum::response::{IntoResponse, Response};
use countersign_engine::{Refusal, Scheme};
use countersign_protocol::aap::error::{Code, ErrorEnvelope};
use http::{HeaderValue, StatusCode, header};
use std::collections::BTreeMap;
use utoipa::{
    IntoResponses, ToSchema as _,
    openapi::{Content, Ref, RefOr, ResponseBuilder},
};

/// The result of a handler that answers with a JSON document.
pub(crate) type JsonResult<T> = Result<axum::Json<T>, RefusalResponse>;

/// A refusal returned by a handler. [`super::layers::envelope`] knows the request id and turns it into an envelope.
#[derive(Clone, Debug)]
pub(crate) struct RefusalResponse(pub(crate) Refusal);

impl From<Refusal> for RefusalResponse {
    fn from(refusal: Refusal) -> Self {
        Self(refusal)
    }
}

impl IntoResponse for RefusalResponse {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.0.code().status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// The envelope of a refusal, the same at every enforcement point.
pub(crate) fn envelope(refusal: &Refusal, id: &RequestId, scheme: Scheme) -> Response {
    let mut response = countersign_gateway::envelope(refusal, &id.0, scheme).into_response();
    response.extensions_mut().insert(Enveloped);
    response
}

/// An envelope for a code without a refusal: an error of the HTTP layer itself.
pub(crate) fn plain(code: Code, description: String, hint: Option<String>, id: &RequestId) -> Response {
    let body = ErrorEnvelope {
        error: code,
        error_description: description,
        hint,
        request_id: id.0.clone(),
        docs_url: None,
        decision: None,
        call: None,
        clarification: None,
        scope_request: None,
    };
    let status = StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, axum::Json(body)).into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.extensions_mut().insert(Enveloped);
    response
}

/// Marks a body that is already an envelope.
#[derive(Clone, Copy)]
pub(crate) struct Enveloped;

/// The error responses of every endpoint, for the OpenAPI description.
pub(crate) struct ErrorResponses;

impl IntoResponses for ErrorResponses {
    fn responses() -> BTreeMap<String, RefOr<utoipa::openapi::Response>> {
        let body = || Content::new(Some(Ref::from_schema_name(ErrorEnvelope::name())));
        let error =
            |description| ResponseBuilder::new().description(description).content("application/json", body()).build();
        let refused = error("Refused: the error envelope has the reason and the next step");
        BTreeMap::from([("4XX".into(), refused.into()), ("5XX".into(), error("Server error").into())])
    }
}
