//! A library for agents and their operators.
//!
//! [`operator`] is the side that owns a domain: it publishes its identity, signs for its agents and asks people for
//! consent. [`agent`] is the side that acts: it discovers, connects, registers and calls, and notifies the person as
//! the protocol requires. Nothing here reads a clock: `now` is an argument.

pub mod aaep;
pub mod agent;
pub mod clarification;
pub mod decisions;
mod delegation;
mod entropy;
mod intent_type;
pub mod mcp;
pub mod mplp;
pub mod operator;
mod possession;
mod secret;
mod service_client;
pub mod transport;

pub use delegation::{BadDelegation, Delegation};
pub use entropy::NoRandomness;
pub use service_client::ServiceError;
