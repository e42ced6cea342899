//! The operations listener: liveness, readiness, metrics. Its responses contain nothing about any person or agent.

use crate::{App, OperatorsPort};
use axum::{Router, extract::State, routing::get};
use http::{HeaderValue, StatusCode, header};

pub fn router(app: App, directory: Option<OperatorsPort>) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state((app, directory))
}

type Operations = (App, Option<OperatorsPort>);

/// Ready: the keys are unlocked, and the store answers and accepts writes.
async fn ready(State((app, _)): State<Operations>) -> (StatusCode, String) {
    match app.engine().readiness().await {
        Ok(lines) => (
            StatusCode::OK,
            std::iter::once("ready\n".into()).chain(lines.iter().map(|line| format!("{line}\n"))).collect(),
        ),
        Err(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")),
    }
}

async fn metrics(State((app, directory)): State<Operations>) -> ([(header::HeaderName, HeaderValue); 1], String) {
    let kind = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], app.metrics.text(directory.as_ref(), app.engine()))
}
