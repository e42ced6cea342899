//! AAEP: agents that speak, subscribers that listen, and the hub between them.

pub(crate) mod hub;
mod sessions;

pub use sessions::Spoke;
