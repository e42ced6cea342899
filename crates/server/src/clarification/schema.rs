//! `GET /specs/clarification-protocol.json`: the schema that every message names, as published by Countersign (W-30).

use axum::response::IntoResponse;
use http::header;

const SCHEMA: &str = include_str!("../../../../docs/schemas/clarification/message.json");

#[utoipa::path(
    get,
    path = "/specs/clarification-protocol.json",
    tag = "discovery",
    summary = "The JSON Schema of clarification messages",
    responses((status = 200, description = "The schema", body = serde_json::Value))
)]
pub(crate) async fn get() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/schema+json")], SCHEMA)
}
