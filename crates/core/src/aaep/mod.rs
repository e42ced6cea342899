//! The rules of AAEP: negotiated terms of a subscription, and shaping its stream to those terms.

pub mod idle;
pub mod late;
pub mod manifest;
pub mod negotiate;
pub mod repeat;
pub mod session;
pub mod shape;
pub mod spoken;
pub mod subscribers;
pub mod subscriptions;
pub mod talk;
pub mod words;
