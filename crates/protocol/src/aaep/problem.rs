//! Problems of a document, reported to its sender.

/// The member and the expected value. Never the actual value: it might be a misplaced secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{member}: {why}")]
pub struct MemberProblem {
    pub member: String,
    pub why: String,
}

impl MemberProblem {
    pub fn new(member: impl Into<String>, why: impl Into<String>) -> Self {
        Self { member: member.into(), why: why.into() }
    }
}
