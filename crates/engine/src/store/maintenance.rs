//! Maintenance writes outside of steps: removing expired rows, indexing and sealing evidence, erasing openings, keeping the time.
//!
//! Each runs in a small transaction of its own, so that steps get their turn in between.

use super::{
    ErasedRecords, EvidenceCheckKind, erasure,
    error::{StoreError, StoreFailure},
    evidence_checks, kept_time,
    log::{self, Cosignature},
    retention::{self, Expired},
    sealing::{self, SealBatch},
    sql::{Access, Sql},
};
use countersign_protocol::{ids::RowKey, time::UnixMillis};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(crate) enum MaintenanceJob {
    Sweep {
        what: Swept,
        now: UnixMillis,
    },
    Index {
        limit: i64,
    },
    Erase {
        project: RowKey,
        lane: i64,
        pos: i64,
    },
    EraseOpenings {
        erasure: RowKey,
        project: RowKey,
        places: Vec<(i64, i64)>,
    },
    EraseRecords(ErasedRecords),
    KeepEvidenceCheck {
        kind: EvidenceCheckKind,
        state: String,
    },
    KeepTime {
        now: UnixMillis,
    },
    AcceptTime {
        now: UnixMillis,
        nonces_until: UnixMillis,
    },
    Remove {
        what: Expired,
        before: UnixMillis,
    },
    Seal(Arc<SealBatch>),
    KeepCosignature {
        project: RowKey,
        size: i64,
        cosignature: Arc<Cosignature>,
    },
    /// Gives free pages back to the file system, where the database does that in steps.
    Reclaim,
}

/// A table of rows that expire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Swept {
    pub(crate) table: &'static str,
    pub(crate) key: &'static str,
    pub(crate) until: &'static str,
    /// How much longer a row is kept, so that a late caller still learns the outcome.
    pub(crate) grace: i64,
}

const MINUTE: i64 = 60_000;
pub(crate) const HOUR: i64 = 60 * MINUTE;
pub(crate) const DAY: i64 = 24 * HOUR;

impl Swept {
    /// Beside the records that expire ([`tables::SWEPT`](super::tables::SWEPT)).
    pub(crate) const COUNTERS: [Self; 2] = [
        Self { table: "counts", key: "key", until: "until", grace: 0 },
        Self { table: "once_keys", key: "key", until: "until", grace: 0 },
    ];
    /// Every live node has read it long before.
    pub(crate) const NEWS: Self = Self { table: "news", key: "(lane, pos)", until: "at", grace: 10 * MINUTE };
}

/// The maximum number of rows that one job removes.
pub(crate) const SWEEP: u64 = 1000;

/// Runs one job and returns the number of rows it touched.
pub(crate) async fn run<S: Sql>(sql: &mut S, chore: MaintenanceJob) -> Result<u64, StoreError> {
    let done = transact(sql, chore).await;
    if done.is_err() {
        sql.rollback().await;
    }
    Ok(done?)
}

async fn transact<S: Sql>(sql: &mut S, chore: MaintenanceJob) -> Result<u64, StoreFailure> {
    sql.begin(Access::Write).await?;
    let touched = match chore {
        MaintenanceJob::Sweep { what, now } => sweep(sql, what, now).await,
        MaintenanceJob::Index { limit } => index(sql, limit).await,
        MaintenanceJob::Erase { project, lane, pos } => erase(sql, project, lane, pos).await,
        MaintenanceJob::EraseOpenings { erasure, project, places } => {
            erasure::openings(sql, (erasure, project), &places).await
        }
        MaintenanceJob::EraseRecords(about) => erasure::records(sql, &about).await,
        MaintenanceJob::KeepEvidenceCheck { kind, state } => evidence_checks::keep(sql, kind, &state).await,
        MaintenanceJob::KeepTime { now } => kept_time::keep(sql, now).await,
        MaintenanceJob::AcceptTime { now, nonces_until } => kept_time::accept(sql, now, nonces_until).await,
        MaintenanceJob::Remove { what, before } => retention::remove(sql, what, before).await,
        MaintenanceJob::Seal(batch) => sealing::seal(sql, &batch).await,
        MaintenanceJob::KeepCosignature { project, size, cosignature } => {
            log::keep_cosignature(sql, project, size, &cosignature).await
        }
        MaintenanceJob::Reclaim => sql.reclaim().await,
    }?;
    sql.commit().await?;
    Ok(touched)
}

async fn sweep<S: Sql>(sql: &mut S, what: Swept, now: UnixMillis) -> Result<u64, StoreFailure> {
    let Swept { table, key, until, grace } = what;
    let columns = key.trim_matches(['(', ')']);
    let text = format!(
        "DELETE FROM {table} WHERE {key} IN \
         (SELECT {columns} FROM {table} WHERE {until} < $1 ORDER BY {until} LIMIT {SWEEP} {})",
        S::SKIP_LOCKED
    );
    sql.execute(&text, &[now.0.saturating_sub(grace).into()]).await
}

/// Copies the next entries of each lane into the index, sorted, and notes how far it came.
async fn index<S: Sql>(sql: &mut S, limit: i64) -> Result<u64, StoreFailure> {
    let progress = format!("SELECT lane, pos FROM audit_progress ORDER BY lane {}", S::SKIP_LOCKED);
    let mut left = limit;
    for lane in sql.query(&progress, &[]).await? {
        left -= index_lane(sql, lane.int(0)?, lane.int(1)?, left).await?;
    }
    Ok(u64::try_from(limit.saturating_sub(left)).unwrap_or(0))
}

async fn index_lane<S: Sql>(sql: &mut S, lane: i64, from: i64, limit: i64) -> Result<i64, StoreFailure> {
    let next = sql.query("SELECT next_pos FROM lanes WHERE lane = $1", &[lane.into()]).await?;
    let last = next.first().map_or(Ok(0), |row| row.int(0))?.saturating_sub(1);
    let to = last.min(from.saturating_add(limit));
    if to <= from {
        return Ok(0);
    }
    for (kind, column) in [(0, "delegation"), (1, "session")] {
        let text = format!(
            "INSERT INTO audit_index (project, kind, key, at, lane, seq, pos, event_type) \
             SELECT project, {kind}, {column}, at, lane, seq, pos, event_type FROM evidence \
             WHERE lane = $1 AND pos > $2 AND pos <= $3 AND {column} IS NOT NULL \
             ORDER BY project, {column}, at, seq"
        );
        sql.execute(&text, &[lane.into(), from.into(), to.into()]).await?;
    }
    sql.execute("UPDATE audit_progress SET pos = $1 WHERE lane = $2", &[to.into(), lane.into()]).await?;
    Ok(to - from)
}

/// Removes the openings of one entry. Leaf, hash and chain stay, so every proof still holds.
async fn erase<S: Sql>(sql: &mut S, project: RowKey, lane: i64, pos: i64) -> Result<u64, StoreFailure> {
    let ours = "SELECT pos FROM evidence WHERE lane = $1 AND pos = $2 AND project = $3";
    let params = [lane.into(), pos.into(), project.into()];
    if sql.query(ours, &params).await?.is_empty() {
        return Ok(0);
    }
    sql.execute("DELETE FROM evidence_openings WHERE lane = $1 AND pos = $2", &[lane.into(), pos.into()]).await
}
