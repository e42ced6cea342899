//! Connections to the services behind.

mod destination;
mod dial;
mod line;
mod pool;
mod tls;

pub use destination::{BadDestination, Destination};
pub(super) use line::{Line, Unanswered};
pub(super) use pool::{Pool, Site};
pub use tls::BadRoots;
