//! The decision logic: pure functions of a view, an operation, the time and some entropy.
//!
//! Nothing here waits, reads a clock, opens a socket or keeps a secret beyond the answer that carries it.
//! `countersign-engine` is the only caller: it loads the view, calls `decide`, and makes the step durable.

pub mod aaep;
pub mod aap;
pub mod audit;
pub mod bounded;
pub mod clarification;
pub mod clock;
pub mod decision;
pub mod env;
pub mod epoch;
pub mod evidence;
pub mod held;
pub mod log_keys;
pub mod mplp;
pub mod people;
pub mod project;
pub mod records;
pub mod refusal;
pub mod scim;
pub mod shared_signals;
pub mod signals;
pub mod step;
