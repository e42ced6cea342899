//! The last position that a node acknowledged, kept beside the database.
//!
//! A database that was restored, copied back or has lost its write-ahead log ends before it, or has another entry at that
//! position. Either is detected at start, and by PostgreSQL's nodes whenever they take a lane.

mod file;

pub(crate) use file::{PositionFile, companion, sync_folder_of};

use super::{
    StoreError,
    batch::Gains,
    error::StoreFailure,
    health::Health,
    sql::{Row, Sql},
};
use countersign_protocol::{evidence, hash::Digest, ids::RowKey};
use std::path::PathBuf;

/// The identity of a database, and how far it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) database: Digest,
    pub(crate) epoch: i64,
    pub(crate) lane: i64,
    /// The number of commits of the lane.
    pub(crate) commits: i64,
    pub(crate) mark: Option<LastEntry>,
}

/// The last entry of the evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LastEntry {
    pub(crate) lane: i64,
    pub(crate) pos: i64,
    pub(crate) leaf: Digest,
    pub(crate) project: RowKey,
    pub(crate) seq: i64,
    /// The running hash of its project in the lane, up to this entry.
    pub(crate) chain: Digest,
}

/// How a database differs from the acknowledged position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Older {
    #[error("it is another database than the one that was here")]
    Another,
    #[error("it is of epoch {found}, and a restore has started epoch {kept} since")]
    Epoch { found: i64, kept: i64 },
    #[error("it ends with commit {found}, and commit {kept} was acknowledged")]
    Behind { found: i64, kept: i64 },
    #[error("the entry at position {pos} of its evidence is not the one that was acknowledged")]
    Differs { pos: i64 },
}

/// The first version of the schema with an identity and a count of commits.
const WITH_POSITION: i64 = 10;
/// How many entries after the mark are read to compute the running hash again.
const MOST_AFTER: i64 = 4096;
/// How many of the last entries are checked.
const TAIL: i64 = 64;

impl Position {
    /// The present position of a lane of the database.
    pub(crate) async fn of<S: Sql>(sql: &mut S, lane: i64) -> Result<Self, StoreFailure> {
        let (database, epoch) = identity(sql).await?;
        let commits = commits_of(sql, lane).await?.unwrap_or(0);
        Ok(Self { database, epoch, lane, commits, mark: LastEntry::last_of(sql, lane).await? })
    }

    /// Takes in the gains of a commit.
    pub(crate) fn advance(&mut self, lane: i64, gains: &Gains<'_>) {
        (self.lane, self.commits) = (lane, gains.commits);
        let last = gains.entries.last();
        let mark = last.and_then(|last| {
            let chain = gains.heads.get(&last.entry.project)?.chain;
            let (pos, leaf, project, seq) = (last.pos, last.entry.hash, last.entry.project, last.seq);
            Some(LastEntry { lane, pos, leaf, project, seq, chain })
        });
        self.mark = mark.or(self.mark);
    }

    /// Whether the database still has everything up to here.
    pub(crate) async fn check_against<S: Sql>(&self, sql: &mut S) -> Result<Result<(), Older>, StoreFailure> {
        let (database, found) = identity(sql).await?;
        if database != self.database {
            return Ok(Err(Older::Another));
        }
        if found < self.epoch {
            return Ok(Err(Older::Epoch { found, kept: self.epoch }));
        }
        // The person who started a later epoch has answered for everything before it.
        if found > self.epoch {
            return Ok(Ok(()));
        }
        let found = commits_of(sql, self.lane).await?.unwrap_or(0);
        if found < self.commits {
            return Ok(Err(Older::Behind { found, kept: self.commits }));
        }
        let Some(mark) = &self.mark else { return Ok(Ok(())) };
        let leaf = leaf_at(sql, mark.lane, mark.pos).await?;
        Ok(if leaf == Some(mark.leaf) { Ok(()) } else { Err(Older::Differs { pos: mark.pos }) })
    }
}

impl LastEntry {
    async fn last_of<S: Sql>(sql: &mut S, lane: i64) -> Result<Option<Self>, StoreFailure> {
        let text = "SELECT e.pos, e.hash, e.project, e.seq, h.chain FROM evidence e \
             JOIN lane_heads h ON h.project = e.project AND h.lane = e.lane \
             WHERE e.lane = $1 AND e.pos = (SELECT next_pos - 1 FROM lanes WHERE lane = $2)";
        let mark = |row: &Row| {
            Ok(Self {
                lane,
                pos: row.int(0)?,
                leaf: row.digest(1)?,
                project: row.int(2)?,
                seq: row.int(3)?,
                chain: row.digest(4)?,
            })
        };
        sql.query(text, &[lane.into(), lane.into()]).await?.first().map(mark).transpose()
    }
}

/// Whether anything was ever committed here.
async fn has_commits<S: Sql>(sql: &mut S) -> Result<bool, StoreFailure> {
    let text = "SELECT lane FROM lanes WHERE commits > 0 OR next_pos > 1 LIMIT 1";
    Ok(!sql.query(text, &[]).await?.is_empty())
}

/// Whether a database is known to be as new as the kept position, or has nothing that could be old. Without a kept
/// position nobody can tell the age of a filled one. `lane` is the one to check where no position names it.
pub(crate) async fn is_current<S: Sql>(
    sql: &mut S,
    schema: i64,
    kept: Option<&Position>,
    lane: i64,
) -> Result<bool, StoreError> {
    if schema < WITH_POSITION {
        // A database without a position may come from an older version; a kept position proves that a later one was here.
        let later = "it was written by an older version than the database that was here";
        return kept.map_or(Ok(true), |_| Err(StoreError::Old(later.into())));
    }
    match kept {
        None if has_commits(sql).await? => return Ok(false),
        None => {}
        Some(kept) => kept.check_against(sql).await?.map_err(|older| StoreError::Old(older.to_string()))?,
    }
    check_tail(sql, kept.map_or(lane, |kept| kept.lane), kept.and_then(|kept| kept.mark.as_ref())).await?;
    Ok(true)
}

/// Checks the end of a lane: its last entries are there without a hole, fit their hashes and are those that
/// its heads name; from the mark on the running hash is computed again. The work is limited for any size of the log.
pub(crate) async fn check_tail<S: Sql>(sql: &mut S, lane: i64, mark: Option<&LastEntry>) -> Result<(), StoreError> {
    let next = sql.query("SELECT next_pos FROM lanes WHERE lane = $1", &[lane.into()]).await?;
    let Some(next) = next.first().map(|row| row.int(0)).transpose()? else { return Ok(()) };
    let text = format!(
        "SELECT e.pos, e.leaf, e.hash, e.seq, h.next_seq FROM evidence e \
         LEFT JOIN lane_heads h ON h.project = e.project AND h.lane = e.lane \
         WHERE e.lane = $1 AND e.pos >= $2 ORDER BY e.pos DESC LIMIT {TAIL}"
    );
    let tail = sql.query(&text, &[lane.into(), next.saturating_sub(TAIL).into()]).await?;
    let expected = (1..next).rev().take(tail.len().max(1));
    let mut positions = tail.iter().map(|row| row.int(0));
    for expected in expected {
        if positions.next().transpose()? != Some(expected) {
            return Err(damaged(expected, "is missing"));
        }
    }
    for row in &tail {
        let (pos, seq, next_seq) = (row.int(0)?, row.int(3)?, row.maybe_int(4)?);
        if evidence::leaf_hash(&row.bytes(1)?) != row.digest(2)? {
            return Err(damaged(pos, "does not fit its hash"));
        }
        if next_seq.is_none_or(|next_seq| seq >= next_seq) {
            return Err(damaged(pos, "is not counted by the head of its project"));
        }
    }
    match mark {
        Some(mark) => check_chain(sql, mark).await,
        None => Ok(()),
    }
}

async fn check_chain<S: Sql>(sql: &mut S, mark: &LastEntry) -> Result<(), StoreError> {
    let head = "SELECT next_seq, chain FROM lane_heads WHERE project = $1 AND lane = $2";
    let head = sql.query(head, &[mark.project.into(), mark.lane.into()]).await?;
    let Some(head) = head.first() else { return Err(damaged(mark.pos, "has no head")) };
    let text = format!(
        "SELECT seq, hash FROM evidence WHERE lane = $1 AND pos > $2 AND project = $3 ORDER BY pos LIMIT {MOST_AFTER}"
    );
    let after = sql.query(&text, &[mark.lane.into(), mark.pos.into(), mark.project.into()]).await?;
    let (mut seq, mut chain) = (mark.seq, mark.chain);
    for row in &after {
        seq = row.int(0)?;
        chain = evidence::chain(&chain, seq, &row.digest(1)?);
    }
    let all_read = seq.saturating_add(1) == head.int(0)?;
    if all_read && chain != head.digest(1)? {
        return Err(damaged(mark.pos, "does not lead to the running hash of its project"));
    }
    Ok(())
}

fn damaged(pos: i64, how: &str) -> StoreError {
    StoreError::Damaged(format!("the entry at position {pos} of the evidence {how}"))
}

async fn identity<S: Sql>(sql: &mut S) -> Result<(Digest, i64), StoreFailure> {
    let rows = sql.query("SELECT database, number FROM epochs WHERE key = 1", &[]).await?;
    let row = rows.first().ok_or_else(|| StoreFailure::Refused("the database does not say which one it is".into()))?;
    Ok((Digest::of(row.text(0)?.as_bytes()), row.int(1)?))
}

async fn commits_of<S: Sql>(sql: &mut S, lane: i64) -> Result<Option<i64>, StoreFailure> {
    let rows = sql.query("SELECT commits FROM lanes WHERE lane = $1", &[lane.into()]).await?;
    rows.first().map(|row| row.int(0)).transpose()
}

async fn leaf_at<S: Sql>(sql: &mut S, lane: i64, pos: i64) -> Result<Option<Digest>, StoreFailure> {
    let rows = sql.query("SELECT hash FROM evidence WHERE lane = $1 AND pos = $2", &[lane.into(), pos.into()]).await?;
    rows.first().map(|row| row.digest(0)).transpose()
}

/// Keeps the position while a node works: in memory, and in a file where there is one.
pub(crate) struct Keeper {
    position: Position,
    kept_in: KeptIn,
    health: Health,
}

pub(crate) enum KeptIn {
    Memory,
    File(PositionFile),
    /// The path of a file to be written once the database has a new epoch: nothing else makes an old database the present one
    ///
    NewEpoch(PathBuf),
}

impl Keeper {
    pub(crate) fn new(position: Position, kept_in: KeptIn, health: Health) -> Self {
        Self { position, kept_in, health }
    }

    /// After a commit, before its acknowledgement. A write into the page cache, without a sync of its own.
    pub(crate) fn advance(&mut self, lane: i64, gains: &Gains<'_>) {
        self.position.advance(lane, gains);
        let KeptIn::File(file) = &mut self.kept_in else { return };
        if let Err(why) = file.write(&self.position) {
            let path = file.path().display();
            let _refuses_what_follows = self.health.fail(format!(
                "the last position cannot be kept in {path}: {why}; make that file writable and start this node again"
            ));
        }
    }

    /// Whether the database still has everything acknowledged; if not, this node leaves service.
    pub(crate) async fn check<S: Sql>(&self, sql: &mut S) -> Result<(), StoreFailure> {
        self.health.check()?;
        match self.position.check_against(sql).await? {
            Ok(()) => Ok(()),
            Err(older) => Err(self.fail_rolled_back(&older)),
        }
    }

    /// The same check by the lane's row that a transaction has read anyway.
    pub(crate) fn check_commits(&self, lane: i64, commits: i64) -> Result<(), StoreFailure> {
        self.health.check()?;
        if lane == self.position.lane && commits < self.position.commits {
            return Err(self.fail_rolled_back(&Older::Behind { found: commits, kept: self.position.commits }));
        }
        Ok(())
    }

    fn fail_rolled_back(&self, older: &Older) -> StoreFailure {
        self.health.fail(format!(
            "the database went back while this node used it: {older}; stop all nodes, and bring the newest one back or \
             run `countersign restore --adopt`"
        ))
    }

    /// Before this node stops: its last acknowledged position survives a loss of power from here on.
    pub(crate) async fn close<S: Sql>(&mut self, sql: &mut S) {
        let written = match &self.kept_in {
            KeptIn::Memory => Ok(()),
            KeptIn::File(file) => file.sync().map_err(|why| why.to_string()),
            KeptIn::NewEpoch(path) => match Position::of(sql, self.position.lane).await {
                Ok(now) if now.epoch > self.position.epoch => {
                    PositionFile::begin(path.clone(), &now).map(drop).map_err(|why| why.to_string())
                }
                Ok(_) => Ok(()),
                Err(why) => Err(why.to_string()),
            },
        };
        if let Err(why) = written {
            tracing::error!(why, "the last position could not be written");
        }
    }
}
