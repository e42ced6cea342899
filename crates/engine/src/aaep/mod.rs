//! AAEP: agents that speak, subscribers that listen, and the hub between them.

pub(crate) mod hub;
mod sessions;
mod stream;
mod subscribers;
mod subscriptions;

pub use sessions::Spoke;
pub use stream::{Delivered, EventStream};
pub use subscribers::Listener;
