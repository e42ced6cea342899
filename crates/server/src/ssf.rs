//! `POST /ssf/v1/events`: security events, pushed by a transmitter of Shared Signals (RFC 8935).

use crate::{
    App,
    http::{
        answer::{Enveloped, RefusalResponse},
        at::AtProject,
        body, layers,
    },
};
use axum::{
    Router,
    extract::{Request, State},
    middleware,
    response::{IntoResponse, Response},
    routing::post,
};
use countersign_engine::SignalRefusal;
use http::{StatusCode, header};

const MEDIA_TYPE: &str = "application/secevent+jwt";
/// Larger than any acceptable token.
const MAX_BYTES: usize = 16 * 1024;

pub(crate) fn router() -> Router<App> {
    endpoints().merge(Router::new().nest("/projects/{projectId}", endpoints()))
}

fn endpoints() -> Router<App> {
    Router::new().route("/ssf/v1/events", post(receive)).layer(middleware::map_response(layers::keep_nothing))
}

/// Why a token was refused (RFC 8935 2.3).
#[derive(serde::Serialize, utoipa::ToSchema)]
pub(crate) struct SetError {
    /// `invalid_request`, `invalid_key`, `invalid_issuer`, `invalid_audience` or `authentication_failed`
    err: &'static str,
    description: String,
}

#[utoipa::path(
    post,
    path = "/ssf/v1/events",
    tag = "provisioning",
    summary = "Receive a security event about a person",
    request_body(content = String, content_type = "application/secevent+jwt", description = "A security event token (RFC 8417), signed by a configured transmitter"),
    responses((status = 202, description = "Received: what the event ends has ended"), (status = 400, description = "Refused (RFC 8935 2.3)", body = SetError), (status = "4XX", description = "Refused: the error envelope has the reason and the next step", body = countersign_protocol::aap::error::ErrorEnvelope), (status = "5XX", description = "Server error: send it again", body = countersign_protocol::aap::error::ErrorEnvelope))
)]
pub(crate) async fn receive(State(app): State<App>, AtProject(at): AtProject, request: Request) -> Response {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case(MEDIA_TYPE) {
        let why = format!("the content type must be {MEDIA_TYPE}");
        return refused(SignalRefusal::InvalidRequest(why));
    }
    let bytes = match body::read(request, MAX_BYTES).await {
        Ok(bytes) => bytes,
        Err(response) => return response,
    };
    let Ok(jwt) = std::str::from_utf8(&bytes) else {
        return refused(SignalRefusal::InvalidRequest("the body is not a token".into()));
    };
    match app.engine.agents().receive_security_event(&at, jwt.trim()).await {
        Ok(()) => StatusCode::ACCEPTED.into_response(),
        Err(refusal) => refused(refusal),
    }
}

fn refused(refusal: SignalRefusal) -> Response {
    let Some(err) = refusal.code() else {
        let SignalRefusal::Other(refusal) = refusal else { return StatusCode::INTERNAL_SERVER_ERROR.into_response() };
        return RefusalResponse(refusal).into_response();
    };
    let body = SetError { err, description: refusal.to_string() };
    let mut response = (StatusCode::BAD_REQUEST, axum::Json(body)).into_response();
    response.extensions_mut().insert(Enveloped);
    response
}
