//! The time kept in the database: the row `clock`, beside the writer's own mark on SQLite.

use super::{
    error::StoreFailure,
    sql::{Row, Sql},
};
use countersign_protocol::time::UnixMillis;

/// The precision of the latest time, where keeping it costs a write.
const COARSE_MS: i64 = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptTime {
    /// The latest time that a node decided by.
    pub last: UnixMillis,
    /// How often an administrator has accepted the clock.
    pub accepted: i64,
    /// Before that, only proofs with a nonce count.
    pub nonces_until: UnixMillis,
}

/// On SQLite the writer marks its lane with each commit, on PostgreSQL nodes keep the time in the row.
pub(crate) async fn read<S: Sql>(sql: &mut S) -> Result<KeptTime, StoreFailure> {
    let found = sql.query("SELECT last, accepted, nonces_until FROM clock WHERE key = 1", &[]).await?;
    let kept = |row: &Row| {
        let (last, nonces_until) = (UnixMillis(row.int(0)?), UnixMillis(row.int(2)?));
        Ok(KeptTime { last, accepted: row.int(1)?, nonces_until })
    };
    found.first().map_or_else(|| Err(StoreFailure::Refused("the row of the clock is missing".into())), kept)
}

pub(crate) async fn keep<S: Sql>(sql: &mut S, now: UnixMillis) -> Result<u64, StoreFailure> {
    let coarse = now.plus_millis(-COARSE_MS);
    sql.execute("UPDATE clock SET last = $1 WHERE key = 1 AND last < $2", &[now.0.into(), coarse.0.into()]).await
}

/// From here on `now` is the time, even if a later one was kept.
pub(crate) async fn accept<S: Sql>(
    sql: &mut S,
    now: UnixMillis,
    nonces_until: UnixMillis,
) -> Result<u64, StoreFailure> {
    let text = "UPDATE clock SET last = $1, accepted = accepted + 1, \
         nonces_until = CASE WHEN nonces_until > $2 THEN nonces_until ELSE $2 END WHERE key = 1";
    sql.execute(text, &[now.0.into(), nonces_until.0.into()]).await?;
    sql.execute("UPDATE lanes SET heartbeat = $1 WHERE heartbeat > $1", &[now.0.into()]).await
}
