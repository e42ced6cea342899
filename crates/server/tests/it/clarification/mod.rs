//! Clarifications over HTTP.

mod abandoned;
mod chain;
mod confirmations;
mod gaps;
mod http;
mod people;
mod restart;
mod sessions;
mod shapes;
mod strangers;
pub(crate) mod world;
