//! Bounds of a standing approval.

mod amount;
mod document;

pub use amount::{Amount, BadAmount};

use document::{WrittenBound, WrittenBounds};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The most calls of one approval.
pub const MAX_USES: i64 = 10_000;
/// The most values of `one_of`, so that a person can still read them.
pub const MAX_CHOICES: usize = 100;
/// The most characters of a unit.
pub const MAX_UNIT: usize = 32;

/// How far an argument may differ from the shown one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "WrittenBound", into = "WrittenBound")]
pub enum Bound {
    /// An exact decimal; `sum` is for all calls together.
    Amount {
        least: Option<Amount>,
        most: Amount,
        sum: Option<Amount>,
        unit: Option<String>,
        /// The tool argument that holds the unit. A route has its table of values instead.
        unit_from: Option<String>,
    },
    OneOf(Vec<Value>),
    /// Any text of at most so many characters, without control characters.
    Text {
        most: u32,
    },
}

/// The limits of a standing approval: uses, lifetime and released arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "WrittenBounds", into = "WrittenBounds")]
pub struct Bounds {
    pub uses: Option<i64>,
    pub seconds: Option<i64>,
    /// By the dotted names of the arguments: `body.amount`.
    pub released: BTreeMap<String, Bound>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadBound {
    #[error("a bound has exactly one of most (an amount), one_of (a list) and text (a number of characters)")]
    NotOne,
    #[error("{0} only goes with most")]
    WithoutMost(&'static str),
    #[error("least is {least}, above most, which is {most}")]
    LeastAboveMost { least: Amount, most: Amount },
    #[error("sum is {sum}, below least, which is {least}: no call would ever fit")]
    SumBelowLeast { sum: Amount, least: Amount },
    #[error("unit must have 1 to {MAX_UNIT} characters, none of them at its ends a space, and no control characters")]
    Unit,
    #[error("unit_from must name an argument, such as currency or to.currency")]
    UnitFrom,
    #[error("one_of must list 1 to {MAX_CHOICES} values")]
    Choices,
    #[error("text must allow at least 1 character")]
    NoText,
    #[error("uses must be 1 to {MAX_USES}")]
    Uses,
    #[error("seconds must be at least 1")]
    Seconds,
    #[error("released has a name without letters: use the argument's, such as body.amount")]
    Unnamed,
}

impl Bound {
    /// The bound if it is valid; a deserialised one always is.
    pub fn checked(self) -> Result<Self, BadBound> {
        WrittenBound::from(self).try_into()
    }

    /// The required unit of every amount, if the bound names one.
    pub fn unit(&self) -> Option<&str> {
        match self {
            Self::Amount { unit, .. } => unit.as_deref(),
            Self::OneOf(_) | Self::Text { .. } => None,
        }
    }

    /// The most that all calls together may use.
    pub fn sum(&self) -> Option<Amount> {
        match self {
            Self::Amount { sum, .. } => *sum,
            Self::OneOf(_) | Self::Text { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests;
