//! Connections to upstreams.

mod connection;
mod destination;
mod dial;
mod pool;
mod tls;

pub(super) use connection::{SendFailure, UpstreamConnection};
pub use destination::{BadDestination, Destination};
pub(super) use pool::{Pool, Site};
pub use tls::BadRoots;
