//! Middleware of every endpoint: time limit, panics, body size, and the error envelope.

use super::{
    answer::{self, Enveloped, RefusalResponse},
    credential::Nonce,
    request_id::RequestId,
};
use crate::{App, mcp, v1::decisions};
use axum::{
    body::Body,
    extract::{MatchedPath, Request, State},
    middleware::Next,
    response::Response,
};
use countersign_gateway::{SIGN_IN, presented_scheme};
use countersign_protocol::aap::error::Code;
use futures_util::FutureExt as _;
use http::{HeaderValue, StatusCode, header};
use std::{panic::AssertUnwindSafe, time::Duration};

/// Every failure leaves in the envelope; an error page stays as it is.
pub(crate) async fn envelope(State(app): State<App>, id: RequestId, mut request: Request, next: Next) -> Response {
    let nonce = Nonce::awaited(&mut request);
    let mut response = nonce.write_to(enveloped(app, id, request, next).await);
    if response.status() == StatusCode::UNAUTHORIZED {
        // Error pages, which are not envelopes.
        let sign_in = HeaderValue::from_static(SIGN_IN);
        response.headers_mut().entry(header::WWW_AUTHENTICATE).or_insert(sign_in);
    }
    response
}

/// Drains the unread rest of the body so that the connection can be reused, or announces its close.
pub(crate) async fn unread(request: Request, next: Next) -> Response {
    let (request, unread) = countersign_gateway::watch(request);
    let mut response = next.run(request.map(Body::new)).await;
    unread.settle(&mut response).await;
    response
}

async fn enveloped(app: App, id: RequestId, request: Request, next: Next) -> Response {
    let (limit, scheme) = (time_limit(&app, &request), presented_scheme(request.headers()));
    let answer = AssertUnwindSafe(tokio::time::timeout(limit, next.run(request))).catch_unwind().await;
    let response = match answer {
        Ok(Ok(response)) => response,
        Ok(Err(_late)) => {
            return error_response(Code::RequestTimeout, "the request took too long and was given up", &id);
        }
        Err(_panic) => {
            tracing::error!("a handler panicked");
            return error_response(Code::InternalError, "an internal error occurred", &id);
        }
    };
    if let Some(RefusalResponse(refusal)) = response.extensions().get::<RefusalResponse>() {
        app.metrics.refused(refusal.code());
        return answer::envelope(refusal, &id, scheme);
    }
    let done = response.extensions().get::<Enveloped>().is_some() || is_page(&response);
    if done || !(response.status().is_client_error() || response.status().is_server_error()) {
        return response;
    }
    by_status(&response, &id)
}

/// Endpoints with a long poll get the longest wait on top of the usual limit.
fn time_limit(app: &App, request: &Request) -> Duration {
    let path = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    let waits = path.is_some_and(|path| path.ends_with(decisions::PATH) || path.ends_with(mcp::PATH));
    if waits { app.limits.request + decisions::LONGEST_WAIT } else { app.limits.request }
}

/// Tokens, questions and agents' audit entries must not be cached (RFC 6749 5.1).
pub(crate) async fn keep_nothing(mut response: Response) -> Response {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn is_page(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/html"))
}

/// Axum's own rejections: no such path, wrong method, and the like.
fn by_status(response: &Response, id: &RequestId) -> Response {
    let allow = response.headers().get(header::ALLOW).cloned();
    let mut told = match response.status() {
        StatusCode::NOT_FOUND => error_response(Code::NotFound, "there is nothing at this address", id),
        StatusCode::METHOD_NOT_ALLOWED => {
            error_response(Code::MethodNotAllowed, "this address does not take that method", id)
        }
        StatusCode::PAYLOAD_TOO_LARGE => error_response(Code::PayloadTooLarge, "the body is too large", id),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => {
            error_response(Code::UnsupportedMediaType, "this content type is not accepted here", id)
        }
        StatusCode::REQUEST_TIMEOUT => {
            error_response(Code::RequestTimeout, "the request took too long and was given up", id)
        }
        StatusCode::SERVICE_UNAVAILABLE => {
            error_response(Code::ServiceUnavailable, "this is not available at the moment", id)
        }
        status if status.is_client_error() => error_response(Code::InvalidRequest, "the request could not be read", id),
        _ => error_response(Code::InternalError, "an internal error occurred", id),
    };
    if let Some(allow) = allow {
        told.headers_mut().insert(header::ALLOW, allow);
    }
    told
}

pub(crate) fn error_response(code: Code, description: &str, id: &RequestId) -> Response {
    let hint = match code {
        Code::NotFound => "check the address; /openapi.json lists all of them",
        Code::MethodNotAllowed => "use a method that Allow lists",
        Code::PayloadTooLarge => "send less",
        Code::UnsupportedMediaType => "send application/json",
        Code::RequestTimeout => "send the whole request without delay, or try again",
        Code::InvalidRequest => "correct the request and send it again",
        _ => "try again; if the error persists, report the request id",
    };
    answer::plain(code, description.to_owned(), Some(hint.to_owned()), id)
}
