//! Why a plan is not clear, or unknown to be. In doubt nothing may be generated.

use crate::service_client::ServiceError;
use countersign_jose::clarification::Wrong;
use countersign_protocol::canonical::NotCanonical;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClarificationError {
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// It was changed in transit, or was never signed.
    #[error("the service's message is not verified, so it is ignored: {0}")]
    NotProven(Box<Wrong>),
    #[error("the response differs from the signed message in: {0}")]
    NotAsSigned(&'static str),
    #[error("no key is known for {0:?}, the named sender of this message")]
    UnknownAgent(String),
    #[error("{0} is not open in this session")]
    NotOpen(String),
    #[error("the question was not asked about this plan, so it is not answered")]
    AnotherPlan,
    #[error("the content to sign has no canonical form: {0}")]
    NotCanonical(String),
}

impl From<Wrong> for ClarificationError {
    fn from(wrong: Wrong) -> Self {
        Self::NotProven(Box::new(wrong))
    }
}

impl From<NotCanonical> for ClarificationError {
    fn from(why: NotCanonical) -> Self {
        Self::NotCanonical(why.to_string())
    }
}
