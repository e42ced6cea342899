//! Messages from agents and subscribers: one JSON document, validated on its own. Nothing here looks up its ids or tokens (C4).

use crate::http::{
    answer::{self, RefusalResponse},
    body,
    request_id::RequestId,
};
use axum::{
    extract::Request,
    response::{IntoResponse, Response},
};
use countersign_engine::Refusal;
use countersign_protocol::{
    aaep::{
        handshake::{Close, Renegotiate},
        limits::MAX_EVENT,
        reply::{self, Reply},
    },
    aap::error::Code,
    json,
};
use http::StatusCode;
use serde_json::Value;

/// Why a body is not a valid message.
#[derive(Debug)]
pub(super) enum NoMessage {
    TooLarge,
    Malformed(String),
}

/// A message of at most [`MAX_EVENT`] bytes, the size that every transport must carry (AAEP 8.3).
pub(super) async fn read(request: Request) -> Result<Value, NoMessage> {
    read_up_to(request, MAX_EVENT).await
}

pub(super) async fn read_up_to(request: Request, limit: usize) -> Result<Value, NoMessage> {
    if !body::is_json(request.headers()) {
        return Err(NoMessage::Malformed("the message must be sent as application/json".into()));
    }
    let bytes = body::read(request, limit).await.map_err(|response| match response.status() {
        StatusCode::PAYLOAD_TOO_LARGE => NoMessage::TooLarge,
        _ => NoMessage::Malformed("the message is incomplete".into()),
    })?;
    parse(&bytes)
}

/// Strict parsing: two parsers must not understand one message differently.
pub(super) fn parse(bytes: &[u8]) -> Result<Value, NoMessage> {
    json::value(bytes).map_err(|_| NoMessage::Malformed("the message is not valid JSON".into()))
}

impl NoMessage {
    pub(super) fn response(self, id: &RequestId) -> Response {
        match self {
            Self::Malformed(why) => RefusalResponse(Refusal::invalid(why)).into_response(),
            Self::TooLarge => {
                let what = format!("a message has at most {MAX_EVENT} bytes");
                answer::plain(Code::PayloadTooLarge, what, Some("send less".into()), id)
            }
        }
    }
}

#[derive(Debug)]
pub(super) enum Incoming {
    Renegotiate(Box<Renegotiate>),
    Close(Close),
    Reply(Box<Reply>),
}

impl Incoming {
    /// With `unnamed`, the sender does not know its subscription's id and may omit it in a reply (C15).
    pub(super) fn parse(value: &Value, unnamed: bool) -> Result<Self, NoMessage> {
        match kind(value) {
            "subscription.request" => Err("a subscription.request is sent to /aaep/v1/subscriptions".into()),
            "subscription.renegotiate" => Renegotiate::parse(value).map(|m| Self::Renegotiate(Box::new(m))),
            "subscription.close" => Close::parse(value).map(Self::Close),
            _ => reply::parse(value, unnamed).map(|m| Self::Reply(Box::new(m))).map_err(|why| why.to_string()),
        }
        .map_err(NoMessage::Malformed)
    }
}

pub(super) fn kind(value: &Value) -> &str {
    value.get("type").and_then(Value::as_str).unwrap_or_default()
}
