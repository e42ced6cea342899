//! Reading the transparency log: a project's tree, its tiles, its checkpoints, and where its entries are.

use super::{
    error::StoreFailure,
    sealing::LogState,
    sql::{Row, Sql, SqlValue},
};
use countersign_protocol::{hash::Digest, ids::RowKey, time::UnixMillis};

/// Entries of a project in one lane that were sealed together, in the order of the lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogSegment {
    pub first_index: i64,
    pub lane: i64,
    pub first_seq: i64,
    pub last_seq: i64,
    pub first_pos: i64,
    pub last_pos: i64,
    /// The running hash of the project in the lane, up to `last_seq`.
    pub chain: Digest,
}

/// A checkpoint as it was signed, without the cosignatures of witnesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredCheckpoint {
    pub size: i64,
    pub at: UnixMillis,
    pub root: Digest,
    pub note: String,
}

/// The cosignature of a witness on a checkpoint: a line of the signed note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cosignature {
    /// The witness's verifier key.
    pub witness: String,
    pub at: UnixMillis,
    pub line: String,
}

/// An entry of a log by its index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    pub index: i64,
    pub lane: i64,
    pub pos: i64,
    pub seq: i64,
    pub leaf: Vec<u8>,
}

const SEGMENT: &str = "SELECT first_index, lane, first_seq, last_seq, first_pos, last_pos, chain FROM log_segments";

impl LogSegment {
    pub fn count(&self) -> i64 {
        self.last_seq.saturating_sub(self.first_seq).saturating_add(1)
    }

    fn read(row: &Row) -> Result<Self, StoreFailure> {
        Ok(Self {
            first_index: row.int(0)?,
            lane: row.int(1)?,
            first_seq: row.int(2)?,
            last_seq: row.int(3)?,
            first_pos: row.int(4)?,
            last_pos: row.int(5)?,
            chain: row.digest(6)?,
        })
    }

    pub(super) async fn write<S: Sql>(&self, sql: &mut S, project: RowKey) -> Result<(), StoreFailure> {
        let text = "INSERT INTO log_segments (project, first_index, lane, first_seq, last_seq, first_pos, last_pos, chain) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
        let numbers =
            [project, self.first_index, self.lane, self.first_seq, self.last_seq, self.first_pos, self.last_pos];
        let params: Vec<SqlValue> = numbers.into_iter().map(SqlValue::from).chain([self.chain.into()]).collect();
        sql.execute(text, &params).await.map(drop)
    }
}

pub(crate) async fn state<S: Sql>(sql: &mut S, project: RowKey) -> Result<Option<LogState>, StoreFailure> {
    let text = "SELECT origin, epoch, size, root, edge FROM logs WHERE project = $1";
    let state = |row: &Row| {
        let (origin, epoch, size) = (row.text(0)?, row.int(1)?, row.int(2)?);
        Ok(LogState { origin, epoch, size, root: row.digest(3)?, edge: row.bytes(4)? })
    };
    sql.query(text, &[project.into()]).await?.first().map(state).transpose()
}

/// The size of each project's log.
pub(crate) async fn sizes<S: Sql>(sql: &mut S) -> Result<Vec<(RowKey, i64)>, StoreFailure> {
    let rows = sql.query("SELECT project, size FROM logs ORDER BY project", &[]).await?;
    rows.iter().map(|row| Ok((row.int(0)?, row.int(1)?))).collect()
}

/// The hashes of complete tiles, by level and number, in the order asked for.
pub(crate) async fn tiles<S: Sql>(
    sql: &mut S,
    project: RowKey,
    places: &[(i64, i64)],
) -> Result<Vec<Option<Vec<u8>>>, StoreFailure> {
    let text = "SELECT hashes FROM log_tiles WHERE project = $1 AND level = $2 AND number = $3";
    let mut found = Vec::with_capacity(places.len());
    for (level, number) in places {
        let rows = sql.query(text, &[project.into(), (*level).into(), (*number).into()]).await?;
        found.push(rows.first().map(|row| row.bytes(0)).transpose()?);
    }
    Ok(found)
}

/// The segment with an entry of a lane, if it is sealed.
pub(crate) async fn segment_of<S: Sql>(
    sql: &mut S,
    project: RowKey,
    lane: i64,
    seq: i64,
) -> Result<Option<LogSegment>, StoreFailure> {
    let text =
        format!("{SEGMENT} WHERE project = $1 AND lane = $2 AND first_seq <= $3 ORDER BY first_seq DESC LIMIT 1");
    let rows = sql.query(&text, &[project.into(), lane.into(), seq.into()]).await?;
    let segment = rows.first().map(LogSegment::read).transpose()?;
    Ok(segment.filter(|segment| segment.last_seq >= seq))
}

/// The segments with any of the indexes `from` (inclusive) to `to` (exclusive), in their order.
pub(crate) async fn segments<S: Sql>(
    sql: &mut S,
    project: RowKey,
    from: i64,
    to: i64,
) -> Result<Vec<LogSegment>, StoreFailure> {
    let text = format!(
        "{SEGMENT} WHERE project = $1 AND first_index >= \
         coalesce((SELECT max(first_index) FROM log_segments WHERE project = $2 AND first_index <= $3), 0) \
         AND first_index < $4 ORDER BY first_index"
    );
    let rows = sql.query(&text, &[project.into(), project.into(), from.into(), to.into()]).await?;
    rows.iter().map(LogSegment::read).collect()
}

/// The entries from one index (inclusive) to another (exclusive). A missing one is left out.
pub(crate) async fn entries<S: Sql>(
    sql: &mut S,
    project: RowKey,
    from: i64,
    to: i64,
) -> Result<Vec<LogEntry>, StoreFailure> {
    let text = "SELECT pos, seq, leaf FROM evidence WHERE lane = $1 AND pos >= $2 AND pos <= $3 AND project = $4 \
         AND seq >= $5 AND seq <= $6 ORDER BY pos";
    let mut found = Vec::new();
    for segment in segments(sql, project, from, to).await? {
        let first = segment.first_seq.saturating_add(from.saturating_sub(segment.first_index).max(0));
        let last = segment.first_seq.saturating_add(to.saturating_sub(segment.first_index)).saturating_sub(1);
        let last = last.min(segment.last_seq);
        let bounds = [segment.lane, segment.first_pos, segment.last_pos, project, first, last];
        for row in sql.query(text, &bounds.map(SqlValue::from)).await? {
            let seq = row.int(1)?;
            let index = segment.first_index.saturating_add(seq.saturating_sub(segment.first_seq));
            found.push(LogEntry { index, lane: segment.lane, pos: row.int(0)?, seq, leaf: row.bytes(2)? });
        }
    }
    Ok(found)
}

fn checkpoint(row: &Row) -> Result<StoredCheckpoint, StoreFailure> {
    Ok(StoredCheckpoint { size: row.int(0)?, at: UnixMillis(row.int(1)?), root: row.digest(2)?, note: row.text(3)? })
}

/// The newest checkpoint up to a size.
pub(crate) async fn newest_checkpoint<S: Sql>(
    sql: &mut S,
    project: RowKey,
    up_to: i64,
) -> Result<Option<StoredCheckpoint>, StoreFailure> {
    let text =
        "SELECT size, at, root, note FROM checkpoints WHERE project = $1 AND size <= $2 ORDER BY size DESC LIMIT 1";
    sql.query(text, &[project.into(), up_to.into()]).await?.first().map(checkpoint).transpose()
}

/// The newest checkpoint that a witness has cosigned.
pub(crate) async fn newest_cosigned<S: Sql>(
    sql: &mut S,
    project: RowKey,
) -> Result<Option<StoredCheckpoint>, StoreFailure> {
    let text = "SELECT size, at, root, note FROM checkpoints WHERE project = $1 AND size = \
         (SELECT max(size) FROM cosignatures WHERE project = $2)";
    sql.query(text, &[project.into(), project.into()]).await?.first().map(checkpoint).transpose()
}

pub(crate) async fn cosignatures<S: Sql>(
    sql: &mut S,
    project: RowKey,
    size: i64,
) -> Result<Vec<Cosignature>, StoreFailure> {
    let text = "SELECT witness, at, line FROM cosignatures WHERE project = $1 AND size = $2 ORDER BY witness";
    let line = |row: &Row| Ok(Cosignature { witness: row.text(0)?, at: UnixMillis(row.int(1)?), line: row.text(2)? });
    sql.query(text, &[project.into(), size.into()]).await?.iter().map(line).collect()
}

/// The size of the newest checkpoint that a witness cosigned; 0 for none.
pub(crate) async fn witnessed_size<S: Sql>(sql: &mut S, project: RowKey, witness: &str) -> Result<i64, StoreFailure> {
    let text = "SELECT coalesce(max(size), 0) FROM cosignatures WHERE project = $1 AND witness = $2";
    sql.query(text, &[project.into(), witness.into()]).await?.first().map_or(Ok(0), |row| row.int(0))
}

/// Keeps a cosignature; one that is known already stays.
pub(crate) async fn keep_cosignature<S: Sql>(
    sql: &mut S,
    project: RowKey,
    size: i64,
    cosignature: &Cosignature,
) -> Result<u64, StoreFailure> {
    let text = "INSERT INTO cosignatures (project, size, witness, at, line) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING";
    let Cosignature { witness, at, line } = cosignature;
    let params = [project.into(), size.into(), witness.as_str().into(), (*at).into(), line.as_str().into()];
    sql.execute(text, &params).await
}
