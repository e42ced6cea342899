//! The store's location, and opening it.

use super::{Store, StoreError, postgres, sqlite};
use countersign_protocol::time::UnixMillis;
use std::{path::PathBuf, sync::Arc};

/// The node's clock. SQLite has no other; PostgreSQL uses its own.
pub type StoreClock = Arc<dyn Fn() -> UnixMillis + Send + Sync>;

#[derive(Clone)]
pub struct StoreOptions {
    pub place: StoreLocation,
    pub clock: StoreClock,
    /// The number of concurrent readers on SQLite. PostgreSQL has its own connections.
    pub readers: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreLocation {
    /// SQLite in a folder of its own that is deleted with the store. For tests and trials.
    Temporary,
    /// SQLite in this file, which is created if it is missing.
    File(PathBuf),
    Postgres(PostgresLocation),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostgresLocation {
    /// `postgres://user:password@host/database`, with `sslmode=verify-full` (or `require`, which verifies as
    /// much) for TLS.
    pub url: String,
    /// The certificate authorities for the server, in PEM form. Needed for TLS.
    pub root_certificates: Option<PathBuf>,
    /// The maximum number of this node's connections, beside the one for notifications; one is the writer's.
    pub connections: usize,
}

impl PostgresLocation {
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), root_certificates: None, connections: 8 }
    }
}

/// The demands of the opener on a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// Demands exclusive use of a SQLite file, or of the state folder on PostgreSQL. Without it the lock is taken if
    /// it is free.
    pub alone: bool,
    /// Whether a missing database is created.
    pub create: bool,
    /// Opens a database that is older than the acknowledged position, to start a new epoch on it.
    pub adopt: bool,
    /// The folder of a node's position on PostgreSQL. That of SQLite is beside its file.
    pub state: Option<PathBuf>,
}

/// Opens the store, beside any process that has it open already; a missing one is created.
pub async fn open(options: StoreOptions) -> Result<Arc<dyn Store>, StoreError> {
    open_as(Opening { create: true, ..Opening::default() }, options).await
}

/// Opens the store: connects, brings the schema up to date, and starts the writer. Needs a Tokio runtime.
pub async fn open_as(opening: Opening, options: StoreOptions) -> Result<Arc<dyn Store>, StoreError> {
    match options.place {
        StoreLocation::Temporary => sqlite::open_temporary(options.clock, options.readers).await,
        StoreLocation::File(path) => sqlite::open_file(path, opening, options.clock, options.readers).await,
        StoreLocation::Postgres(place) => postgres::open(place, opening, options.clock).await,
    }
}
