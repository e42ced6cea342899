//! The ring of tables of spent proofs for all nodes, and how it is emptied.

use super::connection::PooledConnection;
use crate::store::{
    error::StoreFailure,
    proofs::{EARLY, SECOND, StoredProof},
    sql::{Access, Sql as _},
};

pub(super) const SLOTS: usize = 4;
const RING: i64 = SLOTS as i64;
const WIDTH: i64 = 600 * SECOND;

/// No accepted proof is further ahead; with a margin for clock skew.
const AHEAD: i64 = EARLY + 60 * SECOND;
/// A `jti` is remembered for 600 s after it was shown (C-31), which may be 330 s after its proof's own time.
const BEHIND: i64 = EARLY + 630 * SECOND;

/// The slot of a proof in the ring.
pub(super) fn slot(proof: &StoredProof) -> usize {
    ring_slot(proof.issued_at.div_euclid(WIDTH))
}

fn ring_slot(bucket: i64) -> usize {
    usize::try_from(bucket.rem_euclid(RING)).unwrap_or(0)
}

/// Empties the tables in which no proof can count any more. A table that was not emptied before its next use keeps its old
/// proofs for another round: they are refused for longer, and nothing is accepted twice.
pub(super) async fn drop_expired(connection: &mut PooledConnection) -> Result<(), StoreFailure> {
    for slot in 0..SLOTS {
        let filled = format!("SELECT CAST(1 AS BIGINT) FROM proofs_{slot} LIMIT 1");
        if is_past(slot, connection.now().await?) && !connection.query(&filled, &[]).await?.is_empty() {
            let emptied = empty(connection, slot).await;
            if emptied.is_err() {
                connection.rollback().await;
            }
            emptied?;
        }
    }
    Ok(())
}

/// The clock is read again under the exclusive lock: proofs spent while this node waited for it are not lost.
async fn empty(connection: &mut PooledConnection, slot: usize) -> Result<(), StoreFailure> {
    connection.begin(Access::Write).await?;
    connection.batch(&format!("LOCK TABLE proofs_{slot} IN ACCESS EXCLUSIVE MODE")).await?;
    if is_past(slot, connection.now().await?) {
        connection.batch(&format!("TRUNCATE proofs_{slot}")).await?;
    }
    connection.commit().await
}

fn is_past(slot: usize, now: i64) -> bool {
    let live = now.saturating_sub(BEHIND).div_euclid(WIDTH)..=now.saturating_add(AHEAD).div_euclid(WIDTH);
    !live.into_iter().any(|bucket| ring_slot(bucket) == slot)
}

#[cfg(test)]
mod tests;
