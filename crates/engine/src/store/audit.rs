//! Reading the evidence log of a delegation or a session, page by page.
//!
//! Appending must stay cheap however long the log is, so entries are indexed later, in sorted batches. A
//! query reads the index and then the short tail that is not in it yet, both from one snapshot.

use super::{
    error::StoreFailure,
    sql::{Access, Row, Sql, SqlValue},
};
use countersign_protocol::{hash::Digest, ids::RowKey, time::UnixMillis};
use std::collections::{BTreeMap, BTreeSet, HashMap};

#[derive(Clone, Debug)]
pub struct AuditQuery {
    pub project: RowKey,
    pub by: AuditBy,
    /// Inclusive.
    pub from: Option<UnixMillis>,
    /// Exclusive.
    pub to: Option<UnixMillis>,
    pub event_type: Option<String>,
    /// The end of the previous page.
    pub after: Option<AuditPosition>,
    pub limit: usize,
}

/// Selects the entries of any of these rows.
#[derive(Clone, Debug)]
pub enum AuditBy {
    Delegation(Vec<RowKey>),
    Session(Vec<RowKey>),
    /// Of these sessions, those under any of these delegations. `None`: under no delegation.
    SessionUnder {
        sessions: Vec<RowKey>,
        delegations: Vec<Option<RowKey>>,
    },
}

/// The order of a project's log: time, then lane, then sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AuditPosition {
    pub at: UnixMillis,
    pub lane: i64,
    pub seq: i64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AuditRow {
    pub place: AuditPosition,
    /// The position in its lane, as [`super::Store::erase`] takes it.
    pub pos: i64,
    pub event_type: String,
    pub delegation: Option<RowKey>,
    pub session: Option<RowKey>,
    pub leaf: Vec<u8>,
    pub hash: Digest,
    /// None once erased, and for leaves without commitments.
    pub openings: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct AuditPage {
    /// Ascending by place.
    pub rows: Vec<AuditRow>,
    /// The number of entries under the filter, independent of the page.
    pub total: u64,
    /// Whether another page follows.
    pub more: bool,
}

/// The position of an entry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hit {
    pub(super) place: AuditPosition,
    pub(super) pos: i64,
}

pub(crate) async fn page<S: Sql>(sql: &mut S, query: &AuditQuery) -> Result<AuditPage, StoreFailure> {
    sql.begin(Access::Snapshot).await?;
    let page = snapshot(sql, query).await;
    sql.rollback().await;
    page
}

async fn snapshot<S: Sql>(sql: &mut S, query: &AuditQuery) -> Result<AuditPage, StoreFailure> {
    let tail = tail(sql, query).await?;
    let total = indexed_total(sql, query).await? + tail.len() as u64;
    let mut hits = indexed(sql, query).await?;
    hits.extend(tail.into_iter().filter(|hit| query.after.is_none_or(|after| hit.place > after)));
    hits.sort_unstable();
    let more = hits.len() > query.limit;
    hits.truncate(query.limit);
    Ok(AuditPage { rows: rows(sql, &hits).await?, total, more })
}

impl AuditQuery {
    fn kind_and_keys(&self) -> (i64, BTreeSet<RowKey>) {
        match &self.by {
            AuditBy::Delegation(keys) => (0, keys.iter().copied().collect()),
            AuditBy::Session(keys) | AuditBy::SessionUnder { sessions: keys, .. } => {
                (1, keys.iter().copied().collect())
            }
        }
    }

    /// The further condition on an entry's delegation, with its value for `placeholder`.
    fn under<S: Sql>(&self, column: &str, placeholder: &str) -> Option<(String, SqlValue)> {
        let AuditBy::SessionUnder { delegations, .. } = &self.by else { return None };
        let without = if delegations.contains(&None) { format!(" OR {column} IS NULL") } else { String::new() };
        let keys = SqlValue::List(delegations.iter().flatten().copied().collect());
        Some((format!(" AND ({}{without})", S::one_of(column, placeholder)), keys))
    }

    /// `from` and `to` as values; unbounded where none is given.
    fn span(&self) -> (SqlValue, SqlValue) {
        (self.from.map_or(i64::MIN, |at| at.0).into(), self.to.map_or(i64::MAX, |at| at.0).into())
    }

    fn limit_and_one(&self) -> i64 {
        i64::try_from(self.limit).unwrap_or(i64::MAX).saturating_add(1)
    }
}

/// The index has no delegation of a session's entry, so that is read from the entry itself.
const ENTRY: &str = " JOIN evidence e ON e.lane = i.lane AND e.pos = i.pos";

/// The first hits after the previous page, for each key; together they contain the page.
async fn indexed<S: Sql>(sql: &mut S, query: &AuditQuery) -> Result<Vec<Hit>, StoreFailure> {
    let (kind, keys) = query.kind_and_keys();
    let (from, to) = query.span();
    let start = AuditPosition { at: UnixMillis(i64::MIN), lane: i64::MIN, seq: i64::MIN };
    let after = query.after.unwrap_or(start);
    // SQLite numbers placeholders in the order in which they appear.
    let under = query.under::<S>("e.delegation", "$10");
    let (joined, condition, limit) =
        under.as_ref().map_or(("", "", "$10"), |(condition, _)| (ENTRY, condition.as_str(), "$11"));
    let text = format!(
        "SELECT i.at, i.lane, i.seq, i.pos FROM audit_index i{joined} WHERE i.project = $1 AND i.kind = $2 AND i.key = $3 \
         AND i.at >= $4 AND i.at < $5 AND (i.at, i.lane, i.seq) > ($6, $7, $8) \
         AND (CAST($9 AS TEXT) IS NULL OR i.event_type = $9){condition} ORDER BY i.at, i.lane, i.seq LIMIT {limit}"
    );
    let mut hits = Vec::new();
    for key in keys {
        let mut params = vec![
            query.project.into(),
            kind.into(),
            key.into(),
            from.clone(),
            to.clone(),
            after.at.0.into(),
            after.lane.into(),
            after.seq.into(),
            query.event_type.as_deref().into(),
        ];
        params.extend(under.as_ref().map(|(_, keys)| keys.clone()));
        params.push(query.limit_and_one().into());
        for row in sql.query(&text, &params).await? {
            hits.push(hit(&row)?);
        }
    }
    Ok(hits)
}

async fn indexed_total<S: Sql>(sql: &mut S, query: &AuditQuery) -> Result<u64, StoreFailure> {
    let (kind, keys) = query.kind_and_keys();
    let (from, to) = query.span();
    let under = query.under::<S>("e.delegation", "$7");
    let (joined, condition) = under.as_ref().map_or(("", ""), |(condition, _)| (ENTRY, condition));
    let text = format!(
        "SELECT count(*) FROM audit_index i{joined} WHERE i.project = $1 AND i.kind = $2 AND {} AND i.at >= $4 AND i.at < $5 \
         AND (CAST($6 AS TEXT) IS NULL OR i.event_type = $6){condition}",
        S::one_of("i.key", "$3")
    );
    let keys = SqlValue::List(keys.into_iter().collect());
    let mut params = vec![query.project.into(), kind.into(), keys, from, to, query.event_type.as_deref().into()];
    params.extend(under.map(|(_, keys)| keys));
    let counted = sql.query(&text, &params).await?;
    let count = counted.first().map_or(Ok(0), |row| row.int(0))?;
    Ok(u64::try_from(count).unwrap_or(0))
}

/// All entries under the filter that the index does not hold yet.
async fn tail<S: Sql>(sql: &mut S, query: &AuditQuery) -> Result<Vec<Hit>, StoreFailure> {
    let (kind, keys) = query.kind_and_keys();
    let (from, to) = query.span();
    let column = if kind == 0 { "delegation" } else { "session" };
    let under = query.under::<S>("delegation", "$7");
    let condition = under.as_ref().map_or("", |(condition, _)| condition);
    let text = format!(
        "SELECT at, lane, seq, pos, {column} FROM evidence WHERE lane = $1 AND pos > $2 AND project = $3 \
         AND at >= $4 AND at < $5 AND (CAST($6 AS TEXT) IS NULL OR event_type = $6) AND {column} IS NOT NULL{condition}"
    );
    let mut hits = Vec::new();
    for lane in sql.query("SELECT lane, pos FROM audit_progress", &[]).await? {
        let (lane, pos) = (lane.int(0)?, lane.int(1)?);
        let mut params = vec![
            lane.into(),
            pos.into(),
            query.project.into(),
            from.clone(),
            to.clone(),
            query.event_type.as_deref().into(),
        ];
        params.extend(under.as_ref().map(|(_, keys)| keys.clone()));
        for row in sql.query(&text, &params).await? {
            if keys.contains(&row.int(4)?) {
                hits.push(hit(&row)?);
            }
        }
    }
    Ok(hits)
}

/// The entries that a request of an agent leaves.
const REQUESTS: &str = "event_type IN ('call', 'call_started', 'session_started', 'session_reopened', 'session_key_added', \
     'session_mode_added', \
     'decision_raised', 'plan_created', 'clarification_checked', 'clarification_opened')";

/// The times of the last requests under delegations: of the index, and of the tail that is not in it yet.
pub(crate) async fn last_requests_at<S: Sql>(
    sql: &mut S,
    project: RowKey,
    delegations: Vec<RowKey>,
) -> Result<BTreeMap<RowKey, UnixMillis>, StoreFailure> {
    sql.begin(Access::Snapshot).await?;
    let last = last_requests(sql, project, delegations).await;
    sql.rollback().await;
    last
}

/// One query for the index, which reads one entry a delegation, and one a lane for the tail.
async fn last_requests<S: Sql>(
    sql: &mut S,
    project: RowKey,
    delegations: Vec<RowKey>,
) -> Result<BTreeMap<RowKey, UnixMillis>, StoreFailure> {
    let indexed = format!(
        "SELECT d.key, (SELECT i.at FROM audit_index i WHERE i.project = $1 AND i.kind = 0 AND i.key = d.key AND {REQUESTS} \
         ORDER BY i.at DESC, i.lane DESC, i.seq DESC LIMIT 1) FROM delegations d WHERE {}",
        S::one_of("d.key", "$2")
    );
    let tail = format!(
        "SELECT delegation, max(at) FROM evidence WHERE lane = $1 AND pos > $2 AND project = $3 AND {} AND {REQUESTS} \
         GROUP BY delegation",
        S::one_of("delegation", "$4")
    );
    let keys = || SqlValue::List(delegations.clone());
    let mut found = sql.query(&indexed, &[project.into(), keys()]).await?;
    for lane in sql.query("SELECT lane, pos FROM audit_progress", &[]).await? {
        let params = [lane.int(0)?.into(), lane.int(1)?.into(), project.into(), keys()];
        found.extend(sql.query(&tail, &params).await?);
    }
    let mut last = BTreeMap::new();
    for row in found {
        if let Some(at) = row.maybe_int(1)?.map(UnixMillis) {
            last.entry(row.int(0)?).and_modify(|known: &mut UnixMillis| *known = at.max(*known)).or_insert(at);
        }
    }
    Ok(last)
}

/// From `at`, `lane`, `seq`, `pos`.
pub(super) fn hit(row: &Row) -> Result<Hit, StoreFailure> {
    let place = AuditPosition { at: UnixMillis(row.int(0)?), lane: row.int(1)?, seq: row.int(2)? };
    Ok(Hit { place, pos: row.int(3)? })
}

/// The entries behind the hits, in their order.
pub(super) async fn rows<S: Sql>(sql: &mut S, hits: &[Hit]) -> Result<Vec<AuditRow>, StoreFailure> {
    let mut lanes: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for hit in hits {
        lanes.entry(hit.place.lane).or_default().push(hit.pos);
    }
    let text = format!(
        "SELECT e.pos, e.event_type, e.delegation, e.session, e.leaf, e.hash, o.openings FROM evidence e \
         LEFT JOIN evidence_openings o ON o.lane = e.lane AND o.pos = e.pos WHERE e.lane = $1 AND {}",
        S::one_of("e.pos", "$2")
    );
    let mut found = HashMap::new();
    for (lane, positions) in lanes {
        for row in sql.query(&text, &[lane.into(), SqlValue::List(positions)]).await? {
            found.insert((lane, row.int(0)?), row);
        }
    }
    let entry = |hit: &Hit| found.get(&(hit.place.lane, hit.pos)).map(|row| audit_row(hit, row));
    hits.iter().filter_map(entry).collect()
}

fn audit_row(hit: &Hit, row: &Row) -> Result<AuditRow, StoreFailure> {
    Ok(AuditRow {
        place: hit.place,
        pos: hit.pos,
        event_type: row.text(1)?,
        delegation: row.maybe_int(2)?,
        session: row.maybe_int(3)?,
        leaf: row.bytes(4)?,
        hash: row.digest(5)?,
        openings: row.maybe_text(6)?,
    })
}
