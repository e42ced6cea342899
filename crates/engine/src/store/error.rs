//! Errors between the node and its database.

use super::sqlite::Holder;
use std::path::PathBuf;

/// Why the store could not be opened or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The database cannot be used now. Nothing may be decided without its answer.
    #[error("the database cannot be used: {0}")]
    Unavailable(String),
    #[error(
        "this database was written by a newer countersign (schema {found}, this binary knows {known}); \
         use that version or a newer one"
    )]
    Newer { found: i64, known: i64 },
    /// One SQLite file, one node.
    #[error("the database {} is in use by {holder}", .path.display())]
    Held { path: PathBuf, holder: Holder },
    /// A new database is created only on demand.
    #[error("{0}")]
    Missing(String),
    /// The file at its path is something else, or truncated.
    #[error("{0}")]
    NoDatabase(String),
    /// The database is older than the acknowledged position, or its age is not known.
    #[error("this database is not the newest one: {0}")]
    Old(String),
    #[error("the database could not be brought to this version's schema: {0}")]
    Migration(String),
    #[error("{0}")]
    Options(String),
    /// A row that this version cannot read.
    #[error("a stored row cannot be read: {0}")]
    Damaged(String),
}

/// Failures of a statement or a transaction, by the reaction they need.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StoreFailure {
    /// Two transactions conflicted, or the lane went to another node. A retry may succeed.
    #[error("{0}")]
    Again(String),
    /// The connection is gone, and nothing of the transaction was committed.
    #[error("{0}")]
    Lost(String),
    /// Commit was sent and never answered: it may have happened.
    #[error("{0}")]
    Unknown(String),
    /// The database refused (disk full, read-only, an invalid value).
    #[error("{0}")]
    Refused(String),
}

impl From<StoreFailure> for StoreError {
    fn from(failure: StoreFailure) -> Self {
        Self::Unavailable(failure.to_string())
    }
}
