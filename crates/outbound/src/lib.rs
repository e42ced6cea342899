//! The guarded client: every connection to a host that a stranger may name is opened here.
//!
//! [`guard`] checks addresses, [`Fetcher`] speaks https to exactly the checked address, and [`operators::Directory`]
//! caches operators' manifests and keys as long as AAP 4.1 allows and no longer.

pub mod exchange;
pub mod fetch;
pub mod guard;
pub mod log;
pub mod operators;
pub mod resolve;
pub mod target;
pub mod tls;

pub use exchange::{Request, Response, Streamed};
pub use fetch::{FetchError, Fetcher, FetcherConfig};
pub use log::{FetchLog, RecentFetches};
pub use resolve::{Resolver, SystemDns};
