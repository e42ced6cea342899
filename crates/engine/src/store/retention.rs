//! How long records are kept after their end, and their removal.
//!
//! Evidence leaves and their hashes are never removed: a log with holes proves nothing. Pending decisions,
//! claimed and unknown executions, live delegations and the rows they refer to stay until they end, because a row is found
//! here by the moment of its end. An execution with an effect that must not happen twice stays for good.

use super::{
    error::StoreFailure,
    sql::{Row, Sql, SqlValue},
};
use crate::entropy::first_key_at;
use countersign_protocol::{ids::RowKey, time::UnixMillis};
use std::collections::{BTreeMap, BTreeSet};

/// For how many days each kind of record is kept after its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Audit entries: from the end of their delegation or from their own time on, the later of the two (AAP-G-07).
    pub audit_days: i64,
    /// Settled decisions with their allowances and executions, and AAEP sessions.
    pub decisions_days: i64,
    /// Plans that were completed, failed or were cancelled.
    pub plans_days: i64,
    pub clarifications_days: i64,
    /// The feed of bus events and learning samples.
    pub feed_days: i64,
}

impl Default for Retention {
    fn default() -> Self {
        let days = Self::LEAST_AUDIT_DAYS;
        Self { audit_days: days, decisions_days: days, plans_days: days, clarifications_days: days, feed_days: days }
    }
}

const DAY_S: i64 = 86_400;

impl Retention {
    /// AAP's promise about the audit.
    pub const LEAST_AUDIT_DAYS: i64 = 90;

    pub(crate) fn days(&self, what: Expired) -> i64 {
        match what {
            Expired::Decisions | Expired::AaepSessions => self.decisions_days,
            Expired::Plans => self.plans_days,
            Expired::Clarifications => self.clarifications_days,
            Expired::Feed => self.feed_days,
            Expired::Delegations | Expired::LooseEntries | Expired::LooseSessions => self.audit_days,
        }
    }

    /// The latest end of the records that are removed at `now`.
    pub(crate) fn before(&self, what: Expired, now: UnixMillis) -> UnixMillis {
        now.plus_secs(-self.days(what).saturating_mul(DAY_S))
    }
}

/// Records that are removed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expired {
    /// With their allowances and executions.
    Decisions,
    AaepSessions,
    Plans,
    /// Clarification sessions with their chains.
    Clarifications,
    Feed,
    /// Ended delegations with their AAP sessions, their audit entries and their messages.
    Delegations,
    /// Audit entries without a delegation.
    LooseEntries,
    /// AAP sessions without a delegation.
    LooseSessions,
}

impl Expired {
    /// Referring records come before those they refer to.
    pub(crate) const ALL: [Self; 8] = [
        Self::Decisions,
        Self::AaepSessions,
        Self::Plans,
        Self::Clarifications,
        Self::Feed,
        Self::Delegations,
        Self::LooseEntries,
        Self::LooseSessions,
    ];

    /// The maximum number of rows removed by one transaction, dependent rows aside.
    pub(crate) const fn batch(self) -> u64 {
        match self {
            Self::Decisions | Self::AaepSessions | Self::Plans | Self::LooseSessions => 250,
            Self::Clarifications => 50,
            Self::Feed | Self::Delegations | Self::LooseEntries => 1000,
        }
    }
}

/// Transactions of one kind per call, so that a long backlog is removed over many calls.
pub(crate) const ROUNDS: u64 = 8;

/// Removes one batch and returns the number of rows: less than the batch if nothing is left.
pub(crate) async fn remove<S: Sql>(sql: &mut S, what: Expired, before: UnixMillis) -> Result<u64, StoreFailure> {
    match what {
        Expired::Decisions => decisions(sql, before).await,
        Expired::AaepSessions => rows(sql, what, "aaep_sessions", AAEP_SESSIONS, before.0).await,
        Expired::Plans => rows(sql, what, "plans", PLANS, before.0).await,
        Expired::Clarifications => clarifications(sql, before).await,
        Expired::Feed => remove_along_log(sql, what, FEED, before).await,
        Expired::Delegations => delegations(sql, before).await,
        Expired::LooseEntries => remove_along_log(sql, what, LOOSE_ENTRIES, before).await,
        Expired::LooseSessions => loose_sessions(sql, before).await,
    }
}

// The conditions are scalar sub-selects: PostgreSQL runs these by an index for each row, while it may make a join of
// `NOT EXISTS` and read a whole table for it.

/// A standing approval outlives its decision's settlement, and an execution may be reconciled much later. A plan that
/// is not over keeps the questions about it.
const DECISIONS: &str = "SELECT key FROM decisions d WHERE settled_at < $1 \
     AND (SELECT 1 FROM allowances a WHERE a.decision = d.key AND a.due IS NOT NULL LIMIT 1) IS NULL \
     AND (SELECT 1 FROM executions x WHERE x.decision = d.key AND (x.ended_at IS NULL OR x.ended_at >= $1) LIMIT 1) \
        IS NULL \
     AND (SELECT 1 FROM plans p WHERE p.key = d.plan AND (p.ended_at IS NULL OR p.ended_at >= $1) LIMIT 1) IS NULL \
     ORDER BY settled_at";

const AAEP_SESSIONS: &str = "SELECT key FROM aaep_sessions s WHERE ended_at < $1 \
     AND (SELECT 1 FROM decisions d WHERE d.asked_in = s.key LIMIT 1) IS NULL ORDER BY ended_at";

const PLANS: &str = "SELECT key FROM plans p WHERE ended_at < $1 \
     AND (SELECT 1 FROM decisions d WHERE d.plan = p.key LIMIT 1) IS NULL ORDER BY ended_at";

const CLARIFICATIONS: &str = "SELECT key FROM clarification_sessions WHERE ended_at < $1 ORDER BY ended_at";

/// Audit entries are found by their AAP session, so it is removed after them.
const LOOSE_SESSIONS: &str = "SELECT key FROM sessions s WHERE delegation IS NULL AND key < $1 \
     AND (SELECT 1 FROM audit_index i WHERE i.project = s.project AND i.kind = 1 AND i.key = s.key LIMIT 1) IS NULL \
     ORDER BY key";

/// All of it or nothing: as long as one decision, plan, late entry or pending message of a delegation is kept, or the other
/// mode of one of its sessions lives, so is the rest.
fn ended_delegations<S: Sql>() -> String {
    format!(
        "{DELEGATIONS} AND (SELECT 1 FROM sessions s WHERE s.project = d.project AND s.delegation = d.key \
         AND (SELECT 1 FROM delegations o WHERE o.key = {} AND o.ended_at IS NULL) IS NOT NULL LIMIT 1) IS NULL \
         ORDER BY ended_at",
        S::ACCOUNT_GRANT
    )
}

const DELEGATIONS: &str = "SELECT key, project FROM delegations d WHERE ended_at < $1 \
     AND (SELECT 1 FROM decisions x WHERE x.project = d.project AND x.principal = d.id LIMIT 1) IS NULL \
     AND (SELECT 1 FROM plans x WHERE x.project = d.project AND x.principal = d.id LIMIT 1) IS NULL \
     AND (SELECT 1 FROM audit_index i WHERE i.project = d.project AND i.kind = 0 AND i.key = d.key AND i.at >= $1 \
        LIMIT 1) IS NULL \
     AND (SELECT 1 FROM outbox_messages o WHERE o.open_delegation = d.key LIMIT 1) IS NULL";

async fn rows<S: Sql>(
    sql: &mut S,
    what: Expired,
    table: &str,
    expired: &str,
    before: i64,
) -> Result<u64, StoreFailure> {
    let keys = keys(sql, what, expired, before).await?;
    delete(sql, table, "key", &keys).await?;
    Ok(keys.len() as u64)
}

async fn decisions<S: Sql>(sql: &mut S, before: UnixMillis) -> Result<u64, StoreFailure> {
    let keys = keys(sql, Expired::Decisions, DECISIONS, before.0).await?;
    delete(sql, "allowances", "decision", &keys).await?;
    // An effect that was carried out is never carried out again, even after its decision is removed.
    delete(sql, "executions", "live_effect IS NULL AND decision", &keys).await?;
    delete(sql, "held_requests", "key", &keys).await?;
    delete(sql, "decisions", "key", &keys).await?;
    Ok(keys.len() as u64)
}

async fn clarifications<S: Sql>(sql: &mut S, before: UnixMillis) -> Result<u64, StoreFailure> {
    let keys = keys(sql, Expired::Clarifications, CLARIFICATIONS, before.0).await?;
    delete(sql, "clarification_entries", "session", &keys).await?;
    delete(sql, "clarification_sessions", "key", &keys).await?;
    Ok(keys.len() as u64)
}

async fn delegations<S: Sql>(sql: &mut S, before: UnixMillis) -> Result<u64, StoreFailure> {
    const AT_ONCE: usize = 20;
    let batch = Expired::Delegations.batch();
    let text = format!("{} LIMIT {AT_ONCE} {}", ended_delegations::<S>(), S::SKIP_LOCKED);
    let found = sql.query(&text, &[before.0.into()]).await?;
    if found.is_empty() {
        return Ok(0);
    }
    let busy = unindexed_keys(sql, "delegation").await?;
    let mut removed = 0;
    for row in &found {
        let (key, project) = (row.int(0)?, row.int(1)?);
        if busy.contains(&key) {
            continue;
        }
        removed += entries_of(sql, project, key, batch.saturating_sub(removed)).await?;
        if removed >= batch {
            return Ok(removed);
        }
        let rollbacks = "DELETE FROM rollbacks WHERE session IN \
             (SELECT key FROM sessions WHERE project = $1 AND delegation = $2)";
        sql.execute(rollbacks, &[project.into(), key.into()]).await?;
        let sessions = "DELETE FROM sessions WHERE project = $1 AND delegation = $2";
        sql.execute(sessions, &[project.into(), key.into()]).await?;
        delete(sql, "outbox_messages", "delegation", &[key]).await?;
        delete(sql, "delegations", "key", &[key]).await?;
        removed += 1;
    }
    Ok(removed)
}

async fn loose_sessions<S: Sql>(sql: &mut S, before: UnixMillis) -> Result<u64, StoreFailure> {
    let mut keys = keys(sql, Expired::LooseSessions, LOOSE_SESSIONS, first_key_at(before)).await?;
    if !keys.is_empty() {
        let busy = unindexed_keys(sql, "session").await?;
        keys.retain(|key| !busy.contains(key));
    }
    delete(sql, "rollbacks", "session", &keys).await?;
    delete(sql, "sessions", "key", &keys).await?;
    Ok(keys.len() as u64)
}

/// The keys of entries that are not indexed yet.
async fn unindexed_keys<S: Sql>(sql: &mut S, column: &str) -> Result<BTreeSet<RowKey>, StoreFailure> {
    let text = format!("SELECT DISTINCT {column} FROM evidence WHERE lane = $1 AND pos > $2 AND {column} IS NOT NULL");
    let mut busy = BTreeSet::new();
    for lane in sql.query("SELECT lane, pos FROM audit_progress", &[]).await? {
        for row in sql.query(&text, &[lane.int(0)?.into(), lane.int(1)?.into()]).await? {
            busy.insert(row.int(0)?);
        }
    }
    Ok(busy)
}

/// Removes the first audit entries of a delegation: their openings and their index rows. The leaves stay.
async fn entries_of<S: Sql>(sql: &mut S, project: RowKey, key: RowKey, limit: u64) -> Result<u64, StoreFailure> {
    let text = format!(
        "SELECT at, lane, seq, pos FROM audit_index WHERE project = $1 AND kind = 0 AND key = $2 \
         ORDER BY at, lane, seq LIMIT {limit}"
    );
    let found = sql.query(&text, &[project.into(), key.into()]).await?;
    let Some(last) = found.last() else { return Ok(0) };
    let mut lanes: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for row in &found {
        lanes.entry(row.int(1)?).or_default().push(row.int(3)?);
    }
    for (lane, positions) in lanes {
        let text = format!("{ENTRIES} WHERE lane = $1 AND {}", S::one_of("pos", "$2"));
        let entries = sql.query(&text, &[lane.into(), SqlValue::List(positions.clone())]).await?;
        unindex_sessions(sql, lane, entries.iter()).await?;
        delete_openings(sql, lane, positions).await?;
    }
    let indexed =
        "DELETE FROM audit_index WHERE project = $1 AND kind = 0 AND key = $2 AND (at, lane, seq) <= ($3, $4, $5)";
    let up_to = [last.int(0)?, last.int(1)?, last.int(2)?].map(SqlValue::from);
    let params: Vec<SqlValue> = [project.into(), key.into()].into_iter().chain(up_to).collect();
    sql.execute(indexed, &params).await?;
    Ok(found.len() as u64)
}

const ENTRIES: &str = "SELECT pos, at, project, seq, delegation, session FROM evidence";

/// Each by its whole key, so that no planner reads the index from its beginning.
async fn unindex_sessions<'r, S: Sql>(
    sql: &mut S,
    lane: i64,
    entries: impl Iterator<Item = &'r Row> + Send,
) -> Result<(), StoreFailure> {
    let text =
        "DELETE FROM audit_index WHERE project = $1 AND kind = 1 AND key = $2 AND at = $3 AND lane = $4 AND seq = $5";
    for entry in entries {
        let Some(session) = entry.maybe_int(5)? else { continue };
        let key = [entry.int(2)?, session, entry.int(1)?, lane, entry.int(3)?];
        sql.execute(text, &key.map(SqlValue::from)).await?;
    }
    Ok(())
}

async fn delete_openings<S: Sql>(sql: &mut S, lane: i64, positions: Vec<i64>) -> Result<(), StoreFailure> {
    let text = format!("DELETE FROM evidence_openings WHERE lane = $1 AND {}", S::one_of("pos", "$2"));
    sql.execute(&text, &[lane.into(), SqlValue::List(positions)]).await.map(drop)
}

/// The kinds in `retention_progress`.
const FEED: i64 = 0;
const LOOSE_ENTRIES: i64 = 1;

/// Goes through the log from its last stop up to the first entry that is young enough. Entries that are not indexed yet
/// stay, or their index rows would be written after the removal.
async fn remove_along_log<S: Sql>(
    sql: &mut S,
    what: Expired,
    kind: i64,
    before: UnixMillis,
) -> Result<u64, StoreFailure> {
    let new_lanes = format!(
        "INSERT INTO retention_progress (kind, lane, pos) SELECT {kind}, lane, 0 FROM audit_progress \
         WHERE lane NOT IN (SELECT lane FROM retention_progress WHERE kind = {kind}) ON CONFLICT DO NOTHING"
    );
    sql.execute(&new_lanes, &[]).await?;
    let progress =
        format!("SELECT lane, pos FROM retention_progress WHERE kind = {kind} ORDER BY lane {}", S::SKIP_LOCKED);
    let mut left = what.batch();
    for lane in sql.query(&progress, &[]).await? {
        let (lane, from) = (lane.int(0)?, lane.int(1)?);
        let entries = next_expired(sql, lane, from, before, left).await?;
        let Some(last) = entries.last() else { continue };
        match what {
            Expired::Feed => feed(sql, lane, &entries).await?,
            _ => loose_entries(sql, lane, &entries).await?,
        }
        let text = format!("UPDATE retention_progress SET pos = $1 WHERE kind = {kind} AND lane = $2");
        sql.execute(&text, &[last.int(0)?.into(), lane.into()]).await?;
        left = left.saturating_sub(entries.len() as u64);
    }
    Ok(what.batch() - left)
}

/// The next indexed entries of a lane, up to the first one that is not old enough.
async fn next_expired<S: Sql>(
    sql: &mut S,
    lane: i64,
    from: i64,
    before: UnixMillis,
    limit: u64,
) -> Result<Vec<Row>, StoreFailure> {
    let indexed = sql.query("SELECT pos FROM audit_progress WHERE lane = $1", &[lane.into()]).await?;
    let indexed = indexed.first().map_or(Ok(0), |row| row.int(0))?;
    let mut next = Vec::new();
    // Mostly the first one is too young.
    for limit in [limit.min(1), limit] {
        let text = format!("{ENTRIES} WHERE lane = $1 AND pos > $2 AND pos <= $3 ORDER BY pos LIMIT {limit}");
        next = sql.query(&text, &[lane.into(), from.into(), indexed.into()]).await?;
        let times = next.iter().map(|row| row.int(1)).collect::<Result<Vec<_>, _>>()?;
        next.truncate(times.iter().take_while(|at| **at < before.0).count());
        if next.is_empty() {
            break;
        }
    }
    Ok(next)
}

async fn feed<S: Sql>(sql: &mut S, lane: i64, entries: &[Row]) -> Result<(), StoreFailure> {
    let mut projects: BTreeMap<RowKey, Vec<i64>> = BTreeMap::new();
    for entry in entries {
        projects.entry(entry.int(2)?).or_default().push(entry.int(0)?);
    }
    let text = format!("DELETE FROM feed WHERE project = $1 AND lane = $2 AND {}", S::one_of("pos", "$3"));
    for (project, positions) in projects {
        sql.execute(&text, &[project.into(), lane.into(), SqlValue::List(positions)]).await?;
    }
    Ok(())
}

async fn loose_entries<S: Sql>(sql: &mut S, lane: i64, entries: &[Row]) -> Result<(), StoreFailure> {
    let mut loose = Vec::new();
    for entry in entries {
        if entry.maybe_int(4)?.is_none() {
            loose.push(entry);
        }
    }
    let positions = loose.iter().map(|entry| entry.int(0)).collect::<Result<Vec<_>, _>>()?;
    unindex_sessions(sql, lane, loose.into_iter()).await?;
    delete_openings(sql, lane, positions).await
}

async fn keys<S: Sql>(sql: &mut S, what: Expired, expired: &str, before: i64) -> Result<Vec<RowKey>, StoreFailure> {
    let text = format!("{expired} LIMIT {} {}", what.batch(), S::SKIP_LOCKED);
    sql.query(&text, &[before.into()]).await?.iter().map(|row| row.int(0)).collect()
}

async fn delete<S: Sql>(sql: &mut S, table: &str, column: &str, keys: &[RowKey]) -> Result<(), StoreFailure> {
    if keys.is_empty() {
        return Ok(());
    }
    let text = format!("DELETE FROM {table} WHERE {}", S::one_of(column, "$1"));
    sql.execute(&text, &[SqlValue::List(keys.to_vec())]).await.map(drop)
}
