//! Lanes: each node appends evidence in a lane of its own.
//!
//! A lane is a lease, taken and renewed by compare-and-set. The writer checks the owner in each of its transactions, so
//! a node that was suspended for longer than its lease cannot write into another's lane.

use super::connection::PooledConnection;
use crate::store::{error::StoreFailure, sql::Sql as _};
use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

/// The number of this node's lane, shared by all its parts.
#[derive(Clone, Default)]
pub(super) struct LaneNumber(Arc<AtomicI64>);

impl LaneNumber {
    pub(super) fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn set(&self, lane: i64) {
        self.0.store(lane, Ordering::Relaxed);
    }
}

/// A lane that belongs to this node as long as its row has this `owner`.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    pub(super) number: i64,
    pub(super) owner: String,
}

/// Milliseconds without a heartbeat after which a lane may be taken over.
const LEASE: i64 = 10_000;
const ATTEMPTS: usize = 16;

impl Lane {
    /// Takes the lowest lane with a lapsed lease, else creates a new one.
    pub(super) async fn take(connection: &mut PooledConnection) -> Result<Self, StoreFailure> {
        let owner = connection.query("SELECT CAST(gen_random_uuid() AS TEXT)", &[]).await?;
        let owner = owner.first().map_or_else(|| Err(StoreFailure::Lost("no owner".into())), |row| row.text(0))?;
        for _ in 0..ATTEMPTS {
            for attempt in [LAPSED.replace("LEASE", &LEASE.to_string()), NEW.to_owned()] {
                if let Some(row) = connection.query(&attempt, &[owner.as_str().into()]).await?.first() {
                    return Ok(Self { number: row.int(0)?, owner });
                }
            }
        }
        Err(StoreFailure::Again("no lane could be taken: too many nodes are starting at once".into()))
    }

    /// Renews the lease; false if another node has taken the lane.
    pub(super) async fn renew(&self, connection: &mut PooledConnection) -> Result<bool, StoreFailure> {
        let text = "UPDATE lanes SET heartbeat = countersign_now() WHERE lane = $1 AND owner = $2";
        Ok(connection.execute(text, &[self.number.into(), self.owner.as_str().into()]).await? == 1)
    }

    /// Gives the lane back at once.
    pub(super) async fn release(&self, connection: &mut PooledConnection) -> Result<(), StoreFailure> {
        let text = "UPDATE lanes SET heartbeat = 0 WHERE lane = $1 AND owner = $2";
        connection.execute(text, &[self.number.into(), self.owner.as_str().into()]).await.map(|_| ())
    }
}

/// The other lanes with live nodes. A node that has sent anything of late is among them, since every commit is a
/// heartbeat, too.
pub(super) async fn others(connection: &mut PooledConnection, own: i64) -> Result<Vec<i64>, StoreFailure> {
    let text = "SELECT lane FROM lanes WHERE lane <> $1 AND heartbeat >= countersign_now() - $2";
    connection.query(text, &[own.into(), LEASE.into()]).await?.iter().map(|row| row.int(0)).collect()
}

const LAPSED: &str = "UPDATE lanes SET owner = $1, heartbeat = countersign_now() WHERE lane = \
     (SELECT lane FROM lanes WHERE heartbeat < countersign_now() - LEASE ORDER BY lane LIMIT 1 \
      FOR UPDATE SKIP LOCKED) RETURNING lane";

const NEW: &str = "WITH made AS (\
       INSERT INTO lanes (lane, owner, next_pos, heartbeat) \
       SELECT coalesce(max(lane) + 1, 0), $1, 1, countersign_now() FROM lanes \
       ON CONFLICT DO NOTHING RETURNING lane) \
     INSERT INTO audit_progress (lane, pos) SELECT lane, 0 FROM made RETURNING lane";
