//! The raw log, lane by lane, for its check: every entry with its openings and its rows in the index, and the ends of all
//! lanes.

use super::{
    audit::{AuditPosition, AuditRow},
    error::StoreFailure,
    sql::{Access, Row, Sql},
};
use countersign_protocol::{hash::Digest, ids::RowKey, time::UnixMillis};
use std::collections::BTreeMap;

/// An entry as it is stored, and whether the audit of its delegation and its session list it.
#[derive(Clone, Debug, PartialEq)]
pub struct WalkedRow {
    pub project: RowKey,
    pub row: AuditRow,
    pub listed: [bool; 2],
}

/// Where a lane ends, as the log itself says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneEnd {
    pub lane: i64,
    /// The last position.
    pub last: i64,
    /// Up to where the audit index was filled.
    pub indexed: i64,
    /// Whether there is an entry after the end.
    pub overgrown: bool,
    /// The next sequence and the running hash of each project.
    pub heads: BTreeMap<RowKey, (i64, Digest)>,
}

pub(crate) async fn ends<S: Sql>(sql: &mut S) -> Result<Vec<LaneEnd>, StoreFailure> {
    sql.begin(Access::Snapshot).await?;
    let found = ends_now(sql).await;
    sql.rollback().await;
    found
}

async fn ends_now<S: Sql>(sql: &mut S) -> Result<Vec<LaneEnd>, StoreFailure> {
    let lanes = "SELECT l.lane, l.next_pos - 1, p.pos, (SELECT e.pos FROM evidence e WHERE e.lane = l.lane AND e.pos >= l.next_pos LIMIT 1) \
         FROM lanes l LEFT JOIN audit_progress p ON p.lane = l.lane ORDER BY l.lane";
    let heads = "SELECT project, next_seq, chain FROM lane_heads WHERE lane = $1";
    let mut found = Vec::new();
    for row in sql.query(lanes, &[]).await? {
        let lane = row.int(0)?;
        let mut end = LaneEnd {
            lane,
            last: row.int(1)?,
            indexed: row.maybe_int(2)?.unwrap_or(0),
            overgrown: row.maybe_int(3)?.is_some(),
            heads: BTreeMap::new(),
        };
        for head in sql.query(heads, &[lane.into()]).await? {
            end.heads.insert(head.int(0)?, (head.int(1)?, head.digest(2)?));
        }
        found.push(end);
    }
    Ok(found)
}

const ROWS: &str = "SELECT e.project, e.pos, e.at, e.seq, e.event_type, e.delegation, e.session, e.leaf, e.hash, o.openings, \
     i.pos, j.pos FROM evidence e \
     LEFT JOIN evidence_openings o ON o.lane = e.lane AND o.pos = e.pos \
     LEFT JOIN audit_index i ON i.project = e.project AND i.kind = 0 AND i.key = e.delegation AND i.at = e.at AND i.lane = e.lane \
        AND i.seq = e.seq AND i.event_type = e.event_type \
     LEFT JOIN audit_index j ON j.project = e.project AND j.kind = 1 AND j.key = e.session AND j.at = e.at AND j.lane = e.lane \
        AND j.seq = e.seq AND j.event_type = e.event_type \
     WHERE e.lane = $1 AND e.pos > $2 AND e.pos <= $3 ORDER BY e.pos";

/// The entries of a lane after one position, up to another.
pub(crate) async fn rows<S: Sql>(
    sql: &mut S,
    lane: i64,
    (after, to): (i64, i64),
) -> Result<Vec<WalkedRow>, StoreFailure> {
    let found = sql.query(ROWS, &[lane.into(), after.into(), to.into()]).await?;
    found.iter().map(|row| walked(lane, row)).collect()
}

fn walked(lane: i64, row: &Row) -> Result<WalkedRow, StoreFailure> {
    let pos = row.int(1)?;
    let found = AuditRow {
        place: AuditPosition { at: UnixMillis(row.int(2)?), lane, seq: row.int(3)? },
        pos,
        event_type: row.text(4)?,
        delegation: row.maybe_int(5)?,
        session: row.maybe_int(6)?,
        leaf: row.bytes(7)?,
        hash: row.digest(8)?,
        openings: row.maybe_text(9)?,
    };
    let listed = [row.maybe_int(10)? == Some(pos), row.maybe_int(11)? == Some(pos)];
    Ok(WalkedRow { project: row.int(0)?, row: found, listed })
}
