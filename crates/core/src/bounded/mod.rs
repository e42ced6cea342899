//! Standing approvals: one approval for several calls, and the limits within which these may differ.
//!
//! A pattern is an action with every argument as shown, except those that a person released by name, each with a bound.
//! A tally counts the remaining uses and amounts. Everything is exact: numbers are decimals as written, and an
//! ambiguous text fits nothing.

mod arguments;
mod book;
mod compare;
mod difference;
mod fit;
mod limit;
mod pattern;
mod resolve;
mod step;
mod tally;
mod units;

pub use arguments::Arguments;
pub use book::{Book, differences};
pub(crate) use difference::plain_or_quoted;
pub use fit::AmountUse;
pub use limit::bound_text;
pub use pattern::{ActionTarget, BadPattern, Pattern};
pub use step::BadStep;
pub use tally::{NoRoom, NotReserved, Sum, Tally};
pub use units::Units;
