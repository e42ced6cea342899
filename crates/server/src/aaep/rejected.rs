//! Rejection of a subscription: always the protocol's own document, with the status for its reason (S2).

use super::{listener::NoListener, message::NoMessage};
use crate::http::answer::Enveloped;
use axum::response::{IntoResponse, Response};
use countersign_engine::Refusal;
use countersign_protocol::aaep::handshake::{ReasonCode, SubscriptionRejected};
use http::{HeaderValue, StatusCode, header};

/// A rejection with its HTTP status.
#[derive(Debug)]
pub(super) struct Rejected {
    pub(super) document: SubscriptionRejected,
    status: StatusCode,
}

impl From<SubscriptionRejected> for Rejected {
    fn from(document: SubscriptionRejected) -> Self {
        Self { status: status(document.reason_code), document }
    }
}

impl From<NoListener> for Rejected {
    fn from(why: NoListener) -> Self {
        match why {
            NoListener::Unproven => SubscriptionRejected::new(
                ReasonCode::AuthenticationRequired,
                "send Authorization: Bearer with a subscriber token, or sign in",
            )
            .into(),
            NoListener::Refused(refusal) => refusal.into(),
        }
    }
}

impl From<Refusal> for Rejected {
    fn from(refusal: Refusal) -> Self {
        let code = match refusal.code().status() {
            401 => ReasonCode::AuthenticationRequired,
            403 => ReasonCode::AuthorizationDenied,
            429 => ReasonCode::RateLimit,
            500.. => ReasonCode::TransportUnavailable,
            _ => ReasonCode::Unknown,
        };
        let document = SubscriptionRejected::new(code, refusal.to_string());
        SubscriptionRejected { retry_after_seconds: refusal.retry_after_s(), ..document }.into()
    }
}

impl From<NoMessage> for Rejected {
    fn from(why: NoMessage) -> Self {
        match why {
            NoMessage::Malformed(why) => malformed(why),
            NoMessage::TooLarge => {
                Self { status: StatusCode::PAYLOAD_TOO_LARGE, ..malformed("the message is too large") }
            }
        }
    }
}

/// A malformed request is rejected with the generic reason code, because the protocol has no specific one (S12).
pub(super) fn malformed(why: impl Into<String>) -> Rejected {
    // The protocol limits the message of a rejection; a validation error may be longer.
    let why: String = why.into().chars().take(4096).collect();
    SubscriptionRejected::new(ReasonCode::Unknown, why).into()
}

fn status(code: ReasonCode) -> StatusCode {
    match code {
        ReasonCode::VersionUnsupported | ReasonCode::Unknown => StatusCode::BAD_REQUEST,
        ReasonCode::AuthenticationRequired => StatusCode::UNAUTHORIZED,
        ReasonCode::AuthorizationDenied => StatusCode::FORBIDDEN,
        ReasonCode::CapabilitiesIncompatible | ReasonCode::ManifestSignatureRequired => StatusCode::CONFLICT,
        ReasonCode::RateLimit => StatusCode::TOO_MANY_REQUESTS,
        ReasonCode::TransportUnavailable => StatusCode::SERVICE_UNAVAILABLE,
    }
}

impl IntoResponse for Rejected {
    fn into_response(self) -> Response {
        let retry = self.document.retry_after_seconds;
        let mut response = (self.status, axum::Json(self.document)).into_response();
        // The protocol defines this body, so it must not be wrapped in Countersign's error envelope.
        response.extensions_mut().insert(Enveloped);
        let headers = response.headers_mut();
        headers.extend(retry.map(|seconds| (header::RETRY_AFTER, HeaderValue::from(seconds))));
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
