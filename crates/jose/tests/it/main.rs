//! Token verification: anything not plainly valid is refused.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests say what went wrong by failing"
)]

mod algorithms;
mod clarification;
mod delegation;
mod dpop;
mod form;
mod key_set;
mod operator;
mod properties;
mod receipt;
mod signing;
mod support;
mod vectors;
