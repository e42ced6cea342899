//! AAEP 1.0: events that any interface can announce, and the replies to the two that ask a person.

pub mod check;
pub mod envelope;
pub mod event;
pub mod extension;
pub mod handshake;
pub mod ids;
pub mod ingest;
pub mod limits;
pub mod manifest;
mod members;
pub mod problem;
pub mod questions;
pub mod reply;
mod rules;
mod secrets;
mod shape;
