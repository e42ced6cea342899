//! Shrinking a file to the size of its content, while no process has it open.

use super::{
    header::{self, Found},
    lock::DatabaseLock,
};
use crate::store::StoreError;
use countersign_protocol::time::UnixMillis;
use rusqlite::Connection;
use std::path::Path;

/// Rewrites a SQLite database without free pages, and so that free pages are given back from now on. Blocks until that
/// is durable, and needs the same space again meanwhile. Returns the bytes before and after.
pub fn vacuum(database: &Path, now: UnixMillis) -> Result<(u64, u64), StoreError> {
    if header::probe(database)? == Found::Nothing {
        return Err(StoreError::Missing(format!("there is no database {}", database.display())));
    }
    let _nobody_else = DatabaseLock::acquire(database, now).map_err(|why| why.store_error(database))?;
    let length = || std::fs::metadata(database).map_or(0, |found| found.len());
    let before = length();
    rewrite(database).map_err(|why| StoreError::Unavailable(format!("{} is as it was: {why}", database.display())))?;
    Ok((before, length()))
}

fn rewrite(database: &Path) -> rusqlite::Result<()> {
    let connection = Connection::open(database)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
}
