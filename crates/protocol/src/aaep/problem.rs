//! What is wrong with a document, told to whoever sent it.

/// The member and what it would have to be. Never what it was: that might be a secret in a wrong place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{member}: {why}")]
pub struct Problem {
    pub member: String,
    pub why: String,
}

impl Problem {
    pub fn new(member: impl Into<String>, why: impl Into<String>) -> Self {
        Self { member: member.into(), why: why.into() }
    }
}
