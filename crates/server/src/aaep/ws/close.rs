//! Closing a socket: with one of the protocol's close codes, after a document where there is one.

use crate::aaep::{listener::NoListener, rejected::Rejected};
use axum::extract::ws::{CloseFrame, Message, WebSocket};
use countersign_engine::Refusal;
use countersign_protocol::aaep::handshake::ReasonCode;

pub(super) const CLEAN: u16 = 4000;
pub(super) const REJECTED: u16 = 4001;
pub(super) const NOT_PROVEN: u16 = 4002;
pub(super) const NOT_ENTITLED: u16 = 4003;
pub(super) const VIOLATION: u16 = 4004;
pub(super) const BY_SUBSCRIBER: u16 = 4005;
/// Standard WebSocket codes: node shutdown, message too big, internal error.
pub(super) const GOING_AWAY: u16 = 1001;
pub(super) const TOO_BIG: u16 = 1009;
pub(super) const TROUBLE: u16 = 1011;

/// A close code, with an optional last message.
pub(super) struct Goodbye {
    pub(super) message: Option<String>,
    pub(super) code: u16,
    pub(super) reason: String,
}

impl Goodbye {
    pub(super) fn new(code: u16, reason: impl Into<String>) -> Self {
        Self { message: None, code, reason: reason.into() }
    }

    pub(super) async fn send(self, mut socket: WebSocket) {
        if let Some(message) = self.message {
            let _sent = socket.send(Message::Text(message.into())).await;
        }
        let frame = CloseFrame { code: self.code, reason: short(&self.reason).into() };
        let _sent = socket.send(Message::Close(Some(frame))).await;
    }
}

impl From<Rejected> for Goodbye {
    fn from(rejected: Rejected) -> Self {
        let document = rejected.document;
        let code = match document.reason_code {
            ReasonCode::AuthenticationRequired => NOT_PROVEN,
            ReasonCode::AuthorizationDenied => NOT_ENTITLED,
            _ => REJECTED,
        };
        let message = serde_json::to_string(&document).ok();
        Self { message, code, reason: document.reason_message }
    }
}

impl From<Refusal> for Goodbye {
    fn from(refusal: Refusal) -> Self {
        let code = match refusal.code().status() {
            401 => NOT_PROVEN,
            403 => NOT_ENTITLED,
            500.. => TROUBLE,
            _ => VIOLATION,
        };
        Self::new(code, refusal.to_string())
    }
}

impl From<NoListener> for Goodbye {
    fn from(why: NoListener) -> Self {
        match why {
            NoListener::Unproven => Self::new(NOT_PROVEN, "the credentials are no longer valid"),
            NoListener::Refused(refusal) => refusal.into(),
        }
    }
}

/// A client without credentials is rejected like every failed handshake (S2).
pub(super) async fn turned_away(socket: WebSocket, why: NoListener) {
    Goodbye::from(Rejected::from(why)).send(socket).await;
}

/// A reason has at most 123 bytes (RFC 6455 5.5).
fn short(reason: &str) -> String {
    let mut short = String::new();
    for c in reason.chars() {
        if short.len() + c.len_utf8() > 123 {
            break;
        }
        short.push(c);
    }
    short
}
