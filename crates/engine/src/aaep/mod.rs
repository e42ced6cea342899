//! AAEP: agents that publish events, subscribers that receive them, and the hub between them.

mod eviction;
pub(crate) mod hub;
mod questions;
mod repeats;
mod replies;
mod sessions;
mod stream;
mod subscribers;
mod subscriptions;
mod terms;

pub use sessions::Spoke;
pub use stream::{Delivered, EventStream};
pub use subscribers::Listener;
