//! JSON bodies: application/json, within the size limit, no repeated member.

use super::answer::RefusalResponse;
use crate::App;
use axum::{
    extract::{FromRequest, Request},
    response::{IntoResponse, Response},
};
use countersign_engine::Refusal;
use countersign_protocol::json;
use http::{HeaderMap, StatusCode, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::de::DeserializeOwned;

pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for Json<T> {
    type Rejection = Response;

    async fn from_request(request: Request, app: &App) -> Result<Self, Response> {
        if !is_json(request.headers()) {
            return Err(StatusCode::UNSUPPORTED_MEDIA_TYPE.into_response());
        }
        let bytes = read(request, app.limits.max_body_bytes).await?;
        let value = json::from_slice(&bytes);
        let value = value
            .map_err(|why| RefusalResponse(Refusal::invalid(format!("the body is not as expected: {why}"))))
            .map_err(IntoResponse::into_response)?;
        Ok(Self(value))
    }
}

/// Whether the body is sent as JSON, with or without parameters of the type.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
}

/// The whole body, or 413.
pub(crate) async fn read(request: Request, limit: usize) -> Result<bytes::Bytes, Response> {
    match Limited::new(request.into_body(), limit).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(why) if why.is::<LengthLimitError>() => Err(StatusCode::PAYLOAD_TOO_LARGE.into_response()),
        Err(_) => Err(StatusCode::BAD_REQUEST.into_response()),
    }
}
