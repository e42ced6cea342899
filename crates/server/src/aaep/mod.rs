//! AAEP endpoints, at the unscoped paths and under `/projects/{projectId}`: agents publish events, subscribers receive
//! and answer them. The handlers make no decisions; the response to a reply never reveals its outcome.

pub(crate) mod legacy;
mod listener;
pub(crate) mod manifest;
mod message;
pub(crate) mod questions;
mod rejected;
pub(crate) mod replies;
pub(crate) mod sessions;
mod sse;
pub(crate) mod subscriber_tokens;
pub(crate) mod subscriptions;
pub(crate) mod ws;

pub(crate) use legacy::LegacyDoor;

use crate::App;
use axum::{
    Router, middleware,
    response::Response,
    routing::{any, delete, get, post},
};
use http::{HeaderValue, StatusCode, header};

pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/.well-known/aaep-manifest.json", get(manifest::get))
        .route("/projects/{projectId}/.well-known/aaep-manifest.json", get(manifest::of_project))
        .merge(endpoints())
        .nest("/projects/{projectId}", endpoints())
}

fn endpoints() -> Router<App> {
    Router::new()
        .route("/aaep/v1/sessions", post(sessions::open))
        .route("/aaep/v1/sessions/{session_id}/events", post(sessions::publish))
        .route("/aaep/v1/subscriptions", post(subscriptions::subscribe))
        .route("/aaep/v1/events", get(subscriptions::stream))
        .route("/aaep/v1/replies", post(replies::post))
        .route("/aaep/v1/ws", get(ws::get))
        .route("/aaep/v1/questions", get(questions::list))
        .route("/aaep/v1/questions/{decision}/more-time", post(questions::more_time))
        .route("/aaep/v1/questions/{decision}/undo", post(questions::undo))
        .route("/aaep/v1/subscriber-tokens", get(subscriber_tokens::get).post(subscriber_tokens::post))
        .route("/aaep/v1/subscriber-tokens/{id}", delete(subscriber_tokens::delete))
        .route("/aaep/legacy/{token}/events", get(legacy::events).options(legacy::preflight))
        .route("/aaep/legacy/{token}/messages", post(legacy::messages).options(legacy::preflight))
        // Other paths with this prefix contain a credential and must not reach an upstream API behind this router.
        .route("/aaep/legacy/{token}", any(not_found))
        .route("/aaep/legacy/{token}/{end}", any(not_found))
        .route("/aaep/legacy/{token}/{end}/{*rest}", any(not_found))
        .layer(middleware::map_response(keep_nothing))
}

async fn not_found() -> StatusCode {
    StatusCode::NOT_FOUND
}

/// Questions and answers must not be cached.
async fn keep_nothing(mut response: Response) -> Response {
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}
