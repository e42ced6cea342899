//! The events of a project's decisions, plans and executions, page by page, for those who pass them on.
//!
//! The log has no index by subject, because appending must stay cheap. The few entries that are passed on have a row of
//! their own in `feed`, written with them; an ordinary call writes none.

use super::{
    audit::{self, AuditRow, Hit},
    error::StoreFailure,
    sql::{Access, Sql, SqlValue},
};
use countersign_protocol::ids::RowKey;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
pub struct FeedQuery {
    pub project: RowKey,
    /// The `next` of the previous page. A lane that is not named is read from its beginning.
    pub after: Vec<(i64, i64)>,
    pub limit: usize,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeedPage {
    /// Each lane in the order of its commits, lanes among each other by their times. Nothing is ever left out: a lane has one
    /// writer at a time, so the visible part of it has no hole that is filled later.
    pub rows: Vec<AuditRow>,
    /// The last position of each lane, by lane.
    pub next: Vec<(i64, i64)>,
    /// Whether another page follows already.
    pub more: bool,
}

/// Whether entries of this type are passed on.
pub(crate) fn is_in_feed(event_type: &str) -> bool {
    TOLD_ON.contains(&event_type)
}

/// The migration that created the table names the same ones.
const TOLD_ON: [&str; 7] = [
    "decision_raised",
    "decision_settled",
    "plan_created",
    "plan_changed",
    "execution_claimed",
    "execution_settled",
    "execution_unknown",
];

pub(crate) async fn page<S: Sql>(sql: &mut S, query: &FeedQuery) -> Result<FeedPage, StoreFailure> {
    sql.begin(Access::Snapshot).await?;
    let page = snapshot(sql, query).await;
    sql.rollback().await;
    page
}

async fn snapshot<S: Sql>(sql: &mut S, query: &FeedQuery) -> Result<FeedPage, StoreFailure> {
    let after: BTreeMap<i64, i64> = query.after.iter().copied().collect();
    let (mut next, mut found) = (BTreeMap::new(), Vec::new());
    for lane in lanes(sql, query.project).await? {
        let from = after.get(&lane).copied().unwrap_or(0);
        next.insert(lane, from);
        found.push(lane_page(sql, query, lane, from).await?);
    }
    let mut hits = merged(found);
    let more = hits.len() > query.limit;
    hits.truncate(query.limit);
    next.extend(hits.iter().map(|hit| (hit.place.lane, hit.pos)));
    Ok(FeedPage { rows: audit::rows(sql, &hits).await?, next: next.into_iter().collect(), more })
}

/// The lanes that have entries of a project.
async fn lanes<S: Sql>(sql: &mut S, project: RowKey) -> Result<Vec<i64>, StoreFailure> {
    let text = "SELECT lane FROM lane_heads WHERE project = $1 ORDER BY lane";
    sql.query(text, &[project.into()]).await?.iter().map(|row| row.int(0)).collect()
}

const PLACES: &str = "SELECT pos FROM feed WHERE project = $1 AND lane = $2 AND pos > $3 ORDER BY pos LIMIT $4";

/// One more than the page holds, to know whether another follows. First the positions and then their entries, so that no
/// planner reads the log from its beginning.
async fn lane_page<S: Sql>(sql: &mut S, query: &FeedQuery, lane: i64, from: i64) -> Result<Vec<Hit>, StoreFailure> {
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX).saturating_add(1);
    let places = sql.query(PLACES, &[query.project.into(), lane.into(), from.into(), limit.into()]).await?;
    if places.is_empty() {
        return Ok(Vec::new());
    }
    let places = SqlValue::List(places.iter().map(|row| row.int(0)).collect::<Result<_, _>>()?);
    let one_of = S::one_of("pos", "$2");
    let text = format!("SELECT at, lane, seq, pos FROM evidence WHERE lane = $1 AND {one_of} ORDER BY pos");
    sql.query(&text, &[lane.into(), places]).await?.iter().map(audit::hit).collect()
}

/// Merges lanes by time. An entry counts as no earlier than its predecessors in its lane, so that each lane keeps the order
/// of its commits.
fn merged(lanes: Vec<Vec<Hit>>) -> Vec<Hit> {
    let mut timed = Vec::new();
    for hits in lanes {
        let mut latest = i64::MIN;
        for hit in hits {
            latest = latest.max(hit.place.at.0);
            timed.push((latest, hit));
        }
    }
    timed.sort_by_key(|(at, hit)| (*at, hit.place.lane, hit.pos));
    timed.into_iter().map(|(_, hit)| hit).collect()
}
