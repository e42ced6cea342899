//! The schema of SQLite, forward only.

use crate::store::StoreError;

#[allow(clippy::unwrap_used, unreachable_pub, reason = "what the macro writes")]
mod embedded {
    refinery::embed_migrations!("migrations/sqlite");
}

pub(super) fn run(connection: &mut rusqlite::Connection) -> Result<(), StoreError> {
    let failed = |why: String| StoreError::Migration(why);
    // Otherwise a migration and its record are two transactions, and a crash may come between them.
    let runner = embedded::migrations::runner().set_grouped(true);
    let known = runner.get_migrations().iter().map(|m| i64::from(m.version())).max().unwrap_or(0);
    let mut found = newest(connection).map_err(|why| failed(why.to_string()))?;
    if found > known {
        return Err(StoreError::Newer { found, known });
    }
    while let Err(why) = runner.run(connection) {
        // Another process that starts at this moment may have been faster; then this one's migration had no effect.
        let now = newest(connection).map_err(|why| failed(why.to_string()))?;
        if now <= found {
            return Err(failed(why.to_string()));
        }
        found = now;
    }
    Ok(())
}

/// The newest migration of this database.
pub(super) fn newest(connection: &rusqlite::Connection) -> rusqlite::Result<i64> {
    let seen = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'refinery_schema_history'";
    if connection.query_row(seen, [], |row| row.get::<_, i64>(0))? == 0 {
        return Ok(0);
    }
    let newest = "SELECT coalesce(max(version), 0) FROM refinery_schema_history";
    connection.query_row(newest, [], |row| row.get(0))
}
