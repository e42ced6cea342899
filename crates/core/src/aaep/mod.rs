//! The rules of AAEP: negotiated terms of a subscription, and shaping its stream to those terms.

pub mod event_writer;
pub mod idle;
pub mod late;
pub mod manifest;
pub mod negotiate;
pub mod repeat;
pub mod session;
pub mod shape;
pub mod shared_event;
pub mod subscribers;
pub mod subscriptions;
pub mod texts;
