//! The first thing wrong with a bundle.

/// What kind of thing. Both verifiers use the same words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    TooLarge,
    NotJson,
    OtherFormat,
    OtherVersion,
    Form,
    BadKey,
    UnknownAlgorithm,
    WrongKey,
    BadCheckpoint,
    Signature,
    Order,
    Inclusion,
    BadLeaf,
    Openings,
    Commitment,
    Document,
    Subject,
}

impl Code {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TooLarge => "too-large",
            Self::NotJson => "not-json",
            Self::OtherFormat => "other-format",
            Self::OtherVersion => "other-version",
            Self::Form => "form",
            Self::BadKey => "bad-key",
            Self::UnknownAlgorithm => "unknown-algorithm",
            Self::WrongKey => "wrong-key",
            Self::BadCheckpoint => "bad-checkpoint",
            Self::Signature => "signature",
            Self::Order => "order",
            Self::Inclusion => "inclusion",
            Self::BadLeaf => "bad-leaf",
            Self::Openings => "openings",
            Self::Commitment => "commitment",
            Self::Document => "document",
            Self::Subject => "subject",
        }
    }
}

/// The first thing wrong, and its place in the file, like `leaves[2].openings.path`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {why}")]
pub struct Fault {
    pub code: Code,
    pub place: String,
    pub why: String,
}

impl Fault {
    pub(super) fn new(code: Code, place: impl Into<String>, why: impl Into<String>) -> Self {
        Self { code, place: place.into(), why: why.into() }
    }
}
