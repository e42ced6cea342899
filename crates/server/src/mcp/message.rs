//! One JSON-RPC message, parsed as strictly as every other body: no repeated member, no ambiguous number. The protocol
//! library gets the result of this parser.

use crate::http::{answer::Enveloped, body};
use axum::{
    extract::Request,
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use countersign_protocol::json;
use http::StatusCode;
use serde_json::{Value, json};

/// By JSON-RPC 2.0.
const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;

/// A message of at most `most` bytes.
pub(super) async fn read(request: Request, most: usize) -> Result<Bytes, Response> {
    if !body::is_json(request.headers()) {
        return Err(StatusCode::UNSUPPORTED_MEDIA_TYPE.into_response());
    }
    let bytes = body::read(request, most).await?;
    let message = json::value(&bytes)
        .map_err(|why| refused(PARSE_ERROR, None, &format!("the message could not be read: {why}")))?;
    check(&message).map_err(|why| refused(INVALID_REQUEST, message.get("id"), why))?;
    Ok(message.to_string().into())
}

fn check(message: &Value) -> Result<(), &'static str> {
    if !message.is_object() {
        return Err("a message is one JSON object; lists of messages are not accepted");
    }
    if message.get("jsonrpc") != Some(&json!("2.0")) {
        return Err("jsonrpc must be \"2.0\"");
    }
    let is_call = message.get("method").is_some_and(Value::is_string);
    let is_answer = message.get("result").is_some() || message.get("error").is_some();
    if is_call || is_answer { Ok(()) } else { Err("method must be text") }
}

/// A JSON-RPC error.
fn refused(code: i64, id: Option<&Value>, why: &str) -> Response {
    let id = id.filter(|id| id.is_string() || id.is_number());
    let body = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": why } });
    let mut response = (StatusCode::BAD_REQUEST, axum::Json(body)).into_response();
    response.extensions_mut().insert(Enveloped);
    response
}
