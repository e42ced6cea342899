//! The identity of a request that was sent and may have been executed.

/// The decision that approved it, or the call if it needed no approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SentWrite {
    Decision(String),
    Call(String),
}

impl SentWrite {
    pub fn decision_id(&self) -> Option<&str> {
        match self {
            Self::Decision(id) => Some(id),
            Self::Call(_) => None,
        }
    }

    pub fn call_id(&self) -> Option<&str> {
        match self {
            Self::Call(id) => Some(id),
            Self::Decision(_) => None,
        }
    }

    /// The end of a sentence about it.
    pub(super) fn reference(sent: Option<&Self>) -> String {
        match sent {
            Some(Self::Decision(id)) => format!(" (decision {id})"),
            Some(Self::Call(id)) => format!(" (call {id})"),
            None => String::new(),
        }
    }
}
