//! Why an agent got no decision. In doubt nothing may run.

use crate::{agent::ServiceRefusal, transport::Unreachable};
use countersign_jose::SigningFailed;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecisionsError {
    #[error("the service could not be reached ({0}): look at the decision before anything is done")]
    Unreachable(#[from] Unreachable),
    #[error(transparent)]
    Refused(#[from] Box<ServiceRefusal>),
    #[error("the answer is not the document that it should be: report it to the service")]
    BadAnswer,
    #[error(transparent)]
    Unsigned(#[from] SigningFailed),
    /// No rejection: the question may still be pending.
    #[error("no decision came during the wait: look again, or withdraw the question")]
    StillPending,
}

impl DecisionsError {
    /// Whether a retry may succeed later.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable(why) => why.may_pass(),
            Self::Refused(refused) => refused.may_pass(),
            Self::BadAnswer | Self::Unsigned(_) | Self::StillPending => false,
        }
    }
}
