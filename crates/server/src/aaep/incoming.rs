//! Messages from subscribers, parsed by type with a closed schema.

use super::message::NoMessage;
use countersign_protocol::aaep::{
    handshake::{Close, Renegotiate},
    reply::{self, Reply},
};
use serde_json::Value;

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
