//! A project's whole log, page by page in the order of its commits, for auditors and for checks.
//!
//! Appending must stay cheap, so there is no index by any member: a page goes through a bounded stretch of each lane, and
//! says where it stopped, also if nothing in it was wanted.

use super::{
    audit::{AuditPosition, AuditRow},
    error::StoreFailure,
    sql::{Access, Row, Sql, SqlValue},
};
use countersign_protocol::{ids::RowKey, time::UnixMillis};

#[derive(Clone, Debug)]
pub struct LogQuery {
    pub project: RowKey,
    /// The `next` of the previous page; a lane that is not named is read from `from`.
    pub after: Vec<(i64, i64)>,
    /// The time of the first entries to read. Entries that were recorded late are read from where they stand.
    pub from: Option<UnixMillis>,
    /// No lane is read further than a day after it.
    pub to: Option<UnixMillis>,
    pub event_type: Option<String>,
    /// The positions of each lane that a page goes through.
    pub stretch: i64,
    pub limit: usize,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogPage {
    /// Each lane in the order of its commits, lanes among each other by their times.
    pub rows: Vec<AuditRow>,
    /// The position of each lane up to which everything was read.
    pub next: Vec<(i64, i64)>,
    /// Whether anything was left to read.
    pub more: bool,
}

/// How late an entry may be recorded and still be found by a page that ends at `to`.
const LATE: i64 = 86_400_000;
/// Of so many neighbours the latest one gives a position's time, so that one recorded late misleads no search.
const NEIGHBOURS: i64 = 64;

pub(crate) async fn page<S: Sql>(sql: &mut S, query: &LogQuery) -> Result<LogPage, StoreFailure> {
    sql.begin(Access::Snapshot).await?;
    let page = snapshot(sql, query).await;
    sql.rollback().await;
    page
}

/// The stretch of a lane that a page goes through.
struct Stretch {
    lane: i64,
    after: i64,
    /// The last position of the stretch, and its time.
    end: (i64, i64),
    /// Whether entries follow.
    goes_on: bool,
    rows: Vec<(i64, AuditRow)>,
}

async fn snapshot<S: Sql>(sql: &mut S, query: &LogQuery) -> Result<LogPage, StoreFailure> {
    let mut stretches = Vec::new();
    for (lane, last) in lanes(sql, query.project).await? {
        let known = query.after.iter().find(|(known, _)| *known == lane).map(|(_, pos)| *pos);
        let after = match (known, query.from) {
            (Some(pos), _) => pos,
            (None, Some(from)) => before_time(sql, lane, last, from.0).await?,
            (None, None) => 0,
        };
        stretches.push(stretch(sql, query, (lane, after, last)).await?);
    }
    Ok(merged(stretches, query.limit))
}

/// The lanes with entries of the project, and their last positions.
async fn lanes<S: Sql>(sql: &mut S, project: RowKey) -> Result<Vec<(i64, i64)>, StoreFailure> {
    let text = "SELECT l.lane, l.next_pos - 1 FROM lanes l JOIN lane_heads h ON h.lane = l.lane WHERE h.project = $1 ORDER BY l.lane";
    sql.query(text, &[project.into()]).await?.iter().map(|row| Ok((row.int(0)?, row.int(1)?))).collect()
}

/// The last position with nothing of that time or later at or before it.
async fn before_time<S: Sql>(sql: &mut S, lane: i64, last: i64, time: i64) -> Result<i64, StoreFailure> {
    let (mut low, mut high) = (0, last);
    while low < high {
        let middle = low + (high - low) / 2 + 1;
        if time_at(sql, lane, middle).await? < time {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    Ok(low)
}

/// The time of a position: the latest one of its neighbourhood up to it.
async fn time_at<S: Sql>(sql: &mut S, lane: i64, pos: i64) -> Result<i64, StoreFailure> {
    let text = format!(
        "SELECT max(at) FROM (SELECT at FROM evidence WHERE lane = $1 AND pos <= $2 AND pos > $3 ORDER BY pos DESC LIMIT {NEIGHBOURS}) near"
    );
    let found = sql.query(&text, &[lane.into(), pos.into(), (pos - NEIGHBOURS).into()]).await?;
    Ok(found.first().map_or(Ok(None), |row| row.maybe_int(0))?.unwrap_or(i64::MIN))
}

const COLUMNS: &str = "SELECT e.pos, e.at, e.seq, e.event_type, e.delegation, e.session, e.leaf, e.hash, o.openings FROM evidence e \
     LEFT JOIN evidence_openings o ON o.lane = e.lane AND o.pos = e.pos";

async fn stretch<S: Sql>(
    sql: &mut S,
    query: &LogQuery,
    (lane, after, last): (i64, i64, i64),
) -> Result<Stretch, StoreFailure> {
    let end = last.min(after.saturating_add(query.stretch));
    let text = format!(
        "{COLUMNS} WHERE e.lane = $1 AND e.pos > $2 AND e.pos <= $3 AND e.project = $4 \
         AND (CAST($5 AS TEXT) IS NULL OR e.event_type = $5) ORDER BY e.pos LIMIT $6"
    );
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX).saturating_add(1);
    let params: [SqlValue; 6] =
        [lane.into(), after.into(), end.into(), query.project.into(), query.event_type.as_deref().into(), limit.into()];
    let mut time = if after > 0 { time_at(sql, lane, after).await? } else { i64::MIN };
    let mut rows = Vec::new();
    for row in sql.query(&text, &params).await? {
        let row = audit_row(lane, &row)?;
        time = time.max(row.place.at.0);
        rows.push((time, row));
    }
    let end_time = if end > after { time_at(sql, lane, end).await?.max(time) } else { time };
    let over = query.to.is_some_and(|to| end_time > to.0.saturating_add(LATE));
    Ok(Stretch { lane, after, end: (end, end_time), goes_on: end < last && !over, rows })
}

/// Merges the lanes by time, up to where all of them were read.
fn merged(stretches: Vec<Stretch>, limit: usize) -> LogPage {
    let horizon = stretches.iter().filter(|lane| lane.goes_on).map(|lane| lane.end.1).min().unwrap_or(i64::MAX);
    let (mut timed, mut lanes) = (Vec::new(), Vec::new());
    for Stretch { lane, after, end: (end, end_time), goes_on, rows } in stretches {
        timed.extend(rows.into_iter().filter(|(time, _)| *time <= horizon));
        lanes.push((lane, after, (end_time <= horizon).then_some(end), goes_on));
    }
    timed.sort_by_key(|(time, row)| (*time, row.place.lane, row.pos));
    let left: Vec<AuditRow> = timed.split_off(limit.min(timed.len())).into_iter().map(|(_, row)| row).collect();
    let rows: Vec<AuditRow> = timed.into_iter().map(|(_, row)| row).collect();
    let (mut next, mut more) = (Vec::new(), false);
    for (lane, after, end, goes_on) in lanes {
        let end = end.filter(|_| left.iter().all(|row| row.place.lane != lane));
        let taken = || rows.iter().rfind(|row| row.place.lane == lane).map_or(after, |row| row.pos);
        next.push((lane, end.unwrap_or_else(taken)));
        more |= goes_on || end.is_none();
    }
    LogPage { rows, next, more }
}

fn audit_row(lane: i64, row: &Row) -> Result<AuditRow, StoreFailure> {
    let place = AuditPosition { at: UnixMillis(row.int(1)?), lane, seq: row.int(2)? };
    Ok(AuditRow {
        place,
        pos: row.int(0)?,
        event_type: row.text(3)?,
        delegation: row.maybe_int(4)?,
        session: row.maybe_int(5)?,
        leaf: row.bytes(6)?,
        hash: row.digest(7)?,
        openings: row.maybe_text(8)?,
    })
}
