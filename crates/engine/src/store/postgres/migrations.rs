//! The schema of PostgreSQL, forward only.

use super::connection::{failure, pool_error_text};
use crate::store::StoreError;
use deadpool_postgres::{Object, Pool};
use tokio_postgres::Client;

#[allow(clippy::unwrap_used, unreachable_pub, reason = "what the macro writes")]
mod embedded {
    refinery::embed_migrations!("migrations/postgres");
}

/// Nodes that start together take turns. The number is arbitrary.
const LOCK: &str = "SET statement_timeout = 0; SET lock_timeout = 0; SELECT pg_advisory_lock(7258014116)";

pub(super) async fn run(pool: &Pool) -> Result<(), StoreError> {
    let pooled = pool.get().await.map_err(|why| {
        StoreError::Unavailable(format!("{}; check its address and that it is running", pool_error_text(&why)))
    })?;
    // Not given back to the pool: closing it ends the lock in any case.
    let mut client = Object::take(pooled);
    client.batch_execute(LOCK).await.map_err(failure)?;
    migrate(&mut client).await
}

async fn migrate(client: &mut Client) -> Result<(), StoreError> {
    // Otherwise a migration and its record are two transactions, and a crash may come between them.
    let runner = embedded::migrations::runner().set_grouped(true);
    let known = runner.get_migrations().iter().map(|m| i64::from(m.version())).max().unwrap_or(0);
    let found = newest(client).await.map_err(failure)?;
    if found > known {
        return Err(StoreError::Newer { found, known });
    }
    runner.run_async(client).await.map(|_| ()).map_err(|why| StoreError::Migration(why.to_string()))
}

/// The newest migration of this database.
pub(super) async fn newest(client: &Client) -> Result<i64, tokio_postgres::Error> {
    let seen = client.query_one("SELECT to_regclass('refinery_schema_history') IS NOT NULL", &[]).await?;
    if !seen.try_get::<_, bool>(0)? {
        return Ok(0);
    }
    let newest = "SELECT coalesce(max(version), 0)::bigint FROM refinery_schema_history";
    client.query_one(newest, &[]).await?.try_get(0)
}
