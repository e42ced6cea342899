//! Errors of a subscriber, one enum per operation.

use super::{answer::NotAnAnswer, trust::NotProven};
use crate::{agent::ServiceRefusal, transport::Unreachable};
use countersign_protocol::aaep::handshake::{ReasonCode, SubscriptionRejected};

/// Why there is no subscription.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubscribeError {
    #[error("the producer could not be reached ({0}): try again later")]
    Unreachable(#[from] Unreachable),
    #[error("the producer refuses ({}): {}", code(.0.reason_code), .0.reason_message)]
    Rejected(SubscriptionRejected),
    #[error(transparent)]
    Refused(#[from] Box<ServiceRefusal>),
    #[error("the producer's answer is not a subscription: {0}")]
    BadAnswer(String),
    #[error("the producer uses AAEP {0}, and this subscriber supports version 1")]
    OtherVersion(String),
    #[error("the producer does not prove its identity: {0}")]
    NotProven(#[from] NotProven),
}

/// Why an answer was not delivered. Whether a delivered one counted is known from the event that settles the question.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplyError {
    #[error(transparent)]
    NotAnAnswer(#[from] NotAnAnswer),
    #[error("the answer may not have arrived ({0}): it may be sent again, since at most one counts")]
    Unreachable(#[from] Unreachable),
    #[error(transparent)]
    Refused(#[from] Box<ServiceRefusal>),
}

/// Errors of our service's additions to the protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuestionsError {
    #[error("the service could not be reached ({0}): try again later")]
    Unreachable(#[from] Unreachable),
    #[error(transparent)]
    Refused(#[from] Box<ServiceRefusal>),
    #[error("this producer does not list its questions: run the inbox to receive them as they come")]
    NotOffered,
    #[error("the answer is not the document that it should be: report it to the service")]
    BadAnswer,
}

/// The protocol's name of a reason.
fn code(code: ReasonCode) -> String {
    serde_json::to_value(code).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}
