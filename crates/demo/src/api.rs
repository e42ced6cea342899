//! The API that the demo protects: a calendar that knows nothing of agents.

use axum::{Json, Router, routing::get};
use http::StatusCode;
use serde_json::{Value, json};

pub(super) fn calendar() -> Router {
    Router::new()
        .route("/events", get(list).post(create))
        .route("/events/{event}", get(list).patch(create).delete(delete))
}

async fn list() -> Json<Value> {
    Json(json!({ "events": [{ "id": 1, "title": "Stand-up", "at": "Monday 9:00" }] }))
}

async fn create() -> (StatusCode, Json<Value>) {
    (StatusCode::CREATED, Json(json!({ "id": 2 })))
}

async fn delete() -> StatusCode {
    StatusCode::NO_CONTENT
}
