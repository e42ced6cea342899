//! `/mcp`: an agent's tools over HTTP.

mod answers;
mod arguments;
mod bound;
pub(crate) mod calling;
mod plans;
mod protocol;
mod round;
mod strangers;
mod unclear;
mod waiting;
