//! Why a request cannot be rendered for approval.

use super::{json::BadJson, pairs::BadPairs, template::BadTemplate};
use crate::decision::runs::TooMuch;

/// The request is ambiguous, or lacks a member that its text needs: one variant per reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnreadableRequest {
    #[error("the body has over {most} bytes, which is the most that this route takes")]
    TooBig { most: u64 },
    #[error("a request that a person must confirm has no content encoding")]
    Encoded,
    #[error("the content type cannot be read")]
    ContentType,
    #[error("text must be UTF-8, and the content type names another charset")]
    Charset,
    #[error("the path is not one of this route")]
    Path,
    #[error("{{path.{0}}} is not UTF-8 without control characters")]
    Segment(String),
    #[error("the query is ambiguous: {0}")]
    Query(BadPairs),
    #[error("the form is ambiguous: {0}")]
    Form(BadPairs),
    #[error("the body is not unambiguous JSON: {0}")]
    Json(BadJson),
    #[error("{0} is missing, and a person would have to read it")]
    Missing(String),
    #[error("{0} must be digits with at most one fraction, such as 82000.10")]
    NotAnAmount(String),
    #[error("{0} must be a unit of 1 to 32 characters")]
    NotAUnit(String),
    #[error("{0} is part of the effect key, so it must be a text or a whole number, and not empty or padded")]
    NotAKey(String),
    #[error("the effect key is too long")]
    KeyTooLong,
    #[error("{0}")]
    TooMuch(TooMuch),
    /// `project::check` refuses documents with such a template, so this never occurs.
    #[error("the project's template cannot be used: {0}")]
    Template(#[from] BadTemplate),
}
