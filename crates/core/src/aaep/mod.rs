//! The rules of AAEP: what a subscription is promised, and how its stream is shaped to keep it.

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
