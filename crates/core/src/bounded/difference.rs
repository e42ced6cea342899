//! Differences between a call and the approved pattern, as text.

use super::compare::PathSegment;
use crate::held::{JsonMember, quoted, shown};
use serde::{Deserialize, Serialize};

const MAX_NAME: usize = 200;
const MAX_VALUE: usize = 200;

/// One argument that differs from the approved one. Its texts contain no invisible characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgumentDifference {
    /// Dotted: `body.amount`.
    pub name: String,
    /// None if it is missing.
    pub is: Option<String>,
    pub was: Was,
}

/// The approved content of this place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Was {
    Nothing,
    Exactly(String),
    /// The bound as text.
    Within(String),
}

impl std::fmt::Display for ArgumentDifference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = &self.name;
        match (&self.is, &self.was) {
            (None, _) => write!(f, "{name} is missing"),
            (Some(_), Was::Nothing) => write!(f, "{name} is not in the plan"),
            (Some(is), Was::Exactly(was)) => write!(f, "{name} is {is} instead of {was}"),
            (Some(is), Was::Within(bound)) => write!(f, "{name} is {is}, {bound}"),
        }
    }
}

/// A value as text. Strings are quoted, so that none can pass for the surrounding sentence.
pub(super) fn value_text(value: &JsonMember) -> String {
    value_text_within(value, MAX_VALUE)
}

pub(super) fn value_text_within(value: &JsonMember, most: usize) -> String {
    shown(&value.compact(), most)
}

/// The dotted name of a path.
pub(super) fn name(steps: &[PathSegment<'_>]) -> String {
    let step = |step: &PathSegment<'_>| match step {
        PathSegment::Name(name) => plain_or_quoted(name),
        PathSegment::At(index) => index.to_string(),
    };
    shown(&steps.iter().map(step).collect::<Vec<_>>().join("."), MAX_NAME)
}

/// The dotted name of a released argument.
pub(super) fn argument_name(name: &str) -> String {
    shown(&plain_or_quoted(name), MAX_NAME)
}

/// Quotes a name that could be read as more than a name.
pub(crate) fn plain_or_quoted(name: &str) -> String {
    let plain =
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '[' | ']'));
    if plain { name.to_owned() } else { quoted(name) }
}
