//! AAEP 1.0: events that any interface can announce, and the replies to the two that wait for a person.

pub mod envelope;
pub mod event;
