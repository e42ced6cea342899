//! Connections to upstreams.

mod connection;
mod destination;
mod dial;
mod pool;

pub(super) use connection::{SendFailure, UpstreamConnection};
pub use destination::{BadDestination, Destination};
pub use dial::BadRoots;
pub(super) use pool::{Pool, Site};
