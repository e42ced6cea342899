//! Names and values in the differences between a call and the approved pattern.

use super::compare::PathSegment;
use crate::held::{JsonMember, quoted, shown};

const MAX_NAME: usize = 200;
const MAX_VALUE: usize = 200;

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
