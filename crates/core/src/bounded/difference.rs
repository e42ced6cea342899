//! How a call differs from what was approved, in words for people.

use super::compare::Step;
use crate::held::{Member, quoted, shown};
use serde::{Deserialize, Serialize};

const MAX_NAME: usize = 200;
const MAX_VALUE: usize = 200;

/// One argument that is not as it was approved. Nothing invisible is left in its texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// Dotted: `body.amount`.
    pub name: String,
    /// None where it is missing.
    pub is: Option<String>,
    pub was: Was,
}

/// What was approved in this place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Was {
    Nothing,
    Exactly(String),
    /// The bound, in words.
    Within(String),
}

impl std::fmt::Display for Difference {
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

/// A value as people read it. Texts stand in quotes, so that none can be taken for the words around it.
pub(super) fn in_words(value: &Member) -> String {
    value_in_words(value, MAX_VALUE)
}

pub(super) fn value_in_words(value: &Member, most: usize) -> String {
    shown(&value.compact(), most)
}

/// The way to a member as its dotted name.
pub(super) fn name(steps: &[Step<'_>]) -> String {
    let step = |step: &Step<'_>| match step {
        Step::Name(name) => plain_or_quoted(name),
        Step::At(index) => index.to_string(),
    };
    shown(&steps.iter().map(step).collect::<Vec<_>>().join("."), MAX_NAME)
}

/// A dotted name that a person released.
pub(super) fn named(name: &str) -> String {
    shown(&plain_or_quoted(name), MAX_NAME)
}

/// A name that could be taken for a name and more stands in quotes.
fn plain_or_quoted(name: &str) -> String {
    let plain =
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '[' | ']'));
    if plain { name.to_owned() } else { quoted(name) }
}
