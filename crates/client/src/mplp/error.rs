//! Why there is no plan, no Confirm or no event. In doubt nothing may run.

use crate::{agent::ServiceRefusal, transport::Unreachable};
use countersign_jose::SigningFailed;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MplpError {
    #[error("the service could not be reached ({0}): look at the plan before anything is done")]
    Unreachable(#[from] Unreachable),
    #[error(transparent)]
    Refused(#[from] Box<ServiceRefusal>),
    #[error("the answer is not the document that it should be: report it to the service")]
    BadAnswer,
    #[error(transparent)]
    Unsigned(#[from] SigningFailed),
}

impl MplpError {
    /// Whether a retry may succeed later.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable(why) => why.may_pass(),
            Self::Refused(refused) => refused.may_pass(),
            Self::BadAnswer | Self::Unsigned(_) => false,
        }
    }
}
