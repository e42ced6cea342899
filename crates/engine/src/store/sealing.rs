//! Sealing: entries of the evidence log become leaves of their project's Merkle tree.
//!
//! A batch is read beside the writer from one snapshot, and written in one short transaction, which holds only if nobody
//! else has sealed meanwhile: so each entry has exactly one index, and each lane keeps its order.

use super::{
    error::{StoreError, StoreFailure},
    log::LogSegment,
    sql::{Access, Row, Sql, SqlValue},
};
use countersign_protocol::{evidence, hash::Digest, ids::RowKey, time::UnixMillis};
use std::collections::{BTreeMap, BTreeSet};

/// The next entries to seal, and what they follow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unsealed {
    /// Of the sealer's row: a batch holds only while it is still this one.
    pub version: i64,
    pub sealed_at: UnixMillis,
    /// Of the database.
    pub epoch: i64,
    /// Ascending by lane, each without a hole.
    pub entries: Vec<UnsealedEntry>,
    /// The logs of the entries' projects, as far as there are any.
    pub logs: BTreeMap<RowKey, LogState>,
    /// The last sealed entry of each project in each lane.
    pub tails: BTreeMap<(RowKey, i64), LogTail>,
    /// The heads as the writers keep them, by project and lane.
    pub heads: BTreeMap<(RowKey, i64), LogTail>,
    /// Whether further entries wait.
    pub more: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsealedEntry {
    pub project: RowKey,
    pub lane: i64,
    pub pos: i64,
    pub seq: i64,
    pub hash: Digest,
}

/// A project's tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogState {
    pub origin: String,
    /// In which it got this name.
    pub epoch: i64,
    pub size: i64,
    pub root: Digest,
    /// The hashes of the incomplete tile of each level, from level 0 up.
    pub edge: Vec<u8>,
}

/// A place in a project's part of a lane: the last entry, and the running hash up to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogTail {
    pub seq: i64,
    pub chain: Digest,
}

impl LogTail {
    pub const START: Self = Self { seq: 0, chain: Digest([0; 32]) };
}

/// A batch as it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct SealBatch {
    /// The expected version of the sealer's row.
    pub version: i64,
    pub sealed_at: UnixMillis,
    /// How far each lane is sealed with it.
    pub lanes: BTreeMap<i64, i64>,
    pub logs: Vec<SealedLog>,
}

/// The part of a batch in one project.
#[derive(Clone, Debug, PartialEq)]
pub struct SealedLog {
    pub project: RowKey,
    pub size_before: i64,
    pub state: LogState,
    /// The tiles that became complete.
    pub tiles: Vec<CompleteTile>,
    pub segments: Vec<LogSegment>,
    /// The signed checkpoint of the new size.
    pub note: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompleteTile {
    pub level: i64,
    pub number: i64,
    pub hashes: Vec<u8>,
}

/// Whether entries wait to be sealed, without reading them.
pub(crate) async fn sealed_at<S: Sql>(sql: &mut S) -> Result<Option<UnixMillis>, StoreFailure> {
    let text = "SELECT s.sealed_at FROM log_sealer s WHERE s.key = 1 AND EXISTS \
         (SELECT l.lane FROM lanes l LEFT JOIN log_lanes p ON p.lane = l.lane WHERE l.next_pos > coalesce(p.pos, 0) + 1)";
    sql.query(text, &[]).await?.first().map(|row| row.int(0).map(UnixMillis)).transpose()
}

/// The first `limit` entries that are not sealed yet.
pub(crate) async fn unsealed<S: Sql>(sql: &mut S, limit: i64) -> Result<Result<Unsealed, StoreError>, StoreFailure> {
    sql.begin(Access::Snapshot).await?;
    let found = snapshot(sql, limit).await;
    sql.rollback().await;
    found
}

const SEALER: &str =
    "SELECT s.version, s.sealed_at, e.number FROM log_sealer s, epochs e WHERE s.key = 1 AND e.key = 1";

async fn snapshot<S: Sql>(sql: &mut S, limit: i64) -> Result<Result<Unsealed, StoreError>, StoreFailure> {
    let sealer = sql.query(SEALER, &[]).await?;
    let sealer = sealer.first().ok_or_else(|| StoreFailure::Refused("the log has no sealer's row".into()))?;
    let (version, sealed_at, epoch) = (sealer.int(0)?, UnixMillis(sealer.int(1)?), sealer.int(2)?);
    let mut found = Unsealed { version, sealed_at, epoch, ..Unsealed::default() };
    let lanes = "SELECT l.lane, coalesce(p.pos, 0), l.next_pos FROM lanes l LEFT JOIN log_lanes p ON p.lane = l.lane \
         WHERE l.next_pos > coalesce(p.pos, 0) + 1 ORDER BY l.lane";
    for lane in sql.query(lanes, &[]).await? {
        let (lane, from, next) = (lane.int(0)?, lane.int(1)?, lane.int(2)?);
        let room = limit.saturating_sub(i64::try_from(found.entries.len()).unwrap_or(i64::MAX));
        let to = next.min(from.saturating_add(1).saturating_add(room));
        found.more |= to < next;
        if let Err(why) = lane_entries(sql, lane, from, to, &mut found.entries).await? {
            return Ok(Err(why));
        }
        tails(sql, lane, &mut found).await?;
    }
    for project in found.entries.iter().map(|entry| entry.project).collect::<BTreeSet<_>>() {
        if let Some(state) = super::log::state(sql, project).await? {
            found.logs.insert(project, state);
        }
    }
    Ok(Ok(found))
}

/// The entries of a lane after `from` and before `to`: all there, and each with the hash of its bytes.
async fn lane_entries<S: Sql>(
    sql: &mut S,
    lane: i64,
    from: i64,
    to: i64,
    entries: &mut Vec<UnsealedEntry>,
) -> Result<Result<(), StoreError>, StoreFailure> {
    let text =
        "SELECT pos, project, seq, hash, leaf FROM evidence WHERE lane = $1 AND pos > $2 AND pos < $3 ORDER BY pos";
    let rows = sql.query(text, &[lane.into(), from.into(), to.into()]).await?;
    let mut found = rows.iter();
    for pos in from.saturating_add(1)..to {
        let Some(row) = found.next().filter(|row| row.int(0) == Ok(pos)) else {
            return Ok(Err(broken(lane, pos, "is missing")));
        };
        let hash = row.digest(3)?;
        if evidence::leaf_hash(row.bytes_ref(4)?) != hash {
            return Ok(Err(broken(lane, pos, "does not fit its hash")));
        }
        entries.push(UnsealedEntry { project: row.int(1)?, lane, pos, seq: row.int(2)?, hash });
    }
    Ok(Ok(()))
}

pub(crate) fn broken(lane: i64, pos: i64, how: &str) -> StoreError {
    StoreError::Damaged(format!("the entry at position {pos} of lane {lane} of the evidence {how}"))
}

async fn tails<S: Sql>(sql: &mut S, lane: i64, found: &mut Unsealed) -> Result<(), StoreFailure> {
    let here = found.entries.iter().filter(|entry| entry.lane == lane);
    let tail = |row: &Row| Ok::<_, StoreFailure>(LogTail { seq: row.int(0)?, chain: row.digest(1)? });
    for project in here.map(|entry| entry.project).collect::<BTreeSet<_>>() {
        let of = [project.into(), lane.into()];
        let sealed = "SELECT last_seq, chain FROM log_segments WHERE project = $1 AND lane = $2 \
             ORDER BY first_seq DESC LIMIT 1";
        if let Some(row) = sql.query(sealed, &of).await?.first() {
            found.tails.insert((project, lane), tail(row)?);
        }
        let head = "SELECT next_seq - 1, chain FROM lane_heads WHERE project = $1 AND lane = $2";
        if let Some(row) = sql.query(head, &of).await?.first() {
            found.heads.insert((project, lane), tail(row)?);
        }
    }
    Ok(())
}

/// Writes a batch inside a transaction; 0 if somebody else has sealed since it was read.
pub(crate) async fn seal<S: Sql>(sql: &mut S, batch: &SealBatch) -> Result<u64, StoreFailure> {
    let text = "UPDATE log_sealer SET version = version + 1, sealed_at = $1 WHERE key = 1 AND version = $2";
    if sql.execute(text, &[batch.sealed_at.into(), batch.version.into()]).await? == 0 {
        return Ok(0);
    }
    for (lane, pos) in &batch.lanes {
        let text =
            "INSERT INTO log_lanes (lane, pos) VALUES ($1, $2) ON CONFLICT (lane) DO UPDATE SET pos = excluded.pos";
        sql.execute(text, &[(*lane).into(), (*pos).into()]).await?;
    }
    for log in &batch.logs {
        write_log(sql, log, batch.sealed_at).await?;
    }
    Ok(1)
}

async fn write_log<S: Sql>(sql: &mut S, log: &SealedLog, at: UnixMillis) -> Result<(), StoreFailure> {
    let project = SqlValue::from(log.project);
    write_state(sql, log).await?;
    for tile in &log.tiles {
        let text = "INSERT INTO log_tiles (project, level, number, hashes) VALUES ($1, $2, $3, $4)";
        let hashes = SqlValue::Bytes(tile.hashes.clone());
        sql.execute(text, &[project.clone(), tile.level.into(), tile.number.into(), hashes]).await?;
    }
    for segment in &log.segments {
        segment.write(sql, log.project).await?;
    }
    let text = "INSERT INTO checkpoints (project, size, at, root, note) VALUES ($1, $2, $3, $4, $5)";
    let (size, root) = (log.state.size.into(), log.state.root.into());
    sql.execute(text, &[project, size, at.into(), root, log.note.as_str().into()]).await.map(drop)
}

async fn write_state<S: Sql>(sql: &mut S, log: &SealedLog) -> Result<(), StoreFailure> {
    let LogState { origin, epoch, size, root, edge } = &log.state;
    let (project, edge) = (SqlValue::from(log.project), SqlValue::Bytes(edge.clone()));
    let (origin, epoch) = (SqlValue::from(origin.as_str()), SqlValue::from(*epoch));
    let (size, root) = (SqlValue::from(*size), SqlValue::from(*root));
    let written = if log.size_before == 0 {
        let text = "INSERT INTO logs (project, origin, epoch, size, root, edge) VALUES ($1, $2, $3, $4, $5, $6)";
        sql.execute(text, &[project, origin, epoch, size, root, edge]).await?
    } else {
        let text =
            "UPDATE logs SET origin = $1, epoch = $2, size = $3, root = $4, edge = $5 WHERE project = $6 AND size = $7";
        sql.execute(text, &[origin, epoch, size, root, edge, project, log.size_before.into()]).await?
    };
    match written {
        1 => Ok(()),
        _ => Err(StoreFailure::Again("the log of a project is not the one that was read".into())),
    }
}
