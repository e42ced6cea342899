//! How long records are kept after their end, and their removal.
//!
//! Evidence leaves and their hashes are never removed: a log with holes proves nothing. Pending decisions,
//! claimed and unknown executions, live delegations and what these refer to stay as long as they are that, because a row
//! is found here by the moment at which it ended. An execution whose effect must not happen twice stays for good.

use super::{
    error::Failure,
    sql::{Row, Sql, Value},
};
use crate::chance::first_key_at;
use countersign_protocol::{ids::RowKey, time::UnixMillis};
use std::collections::BTreeMap;

/// For how many days each kind of record is kept after its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Audit entries: from the end of their delegation and from their own time on, whichever is later (AAP-G-07).
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
    /// What AAP promises about the audit.
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

    /// What ended before this is removed.
    pub(crate) fn before(&self, what: Expired, now: UnixMillis) -> UnixMillis {
        now.plus_secs(-self.days(what).saturating_mul(DAY_S))
    }
}

/// What is removed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expired {
    /// With their allowances and executions.
    Decisions,
    AaepSessions,
    Plans,
    /// Clarification sessions with their chains.
    Clarifications,
    Feed,
    /// Ended delegations with their AAP sessions and everything about them in the audit.
    Delegations,
    /// Audit entries that belong to no delegation.
    LooseEntries,
    /// AAP sessions that belong to none.
    LooseSessions,
}

impl Expired {
    /// What refers to others comes before them.
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

    /// How many rows one transaction removes at most, their companions aside.
    pub(crate) const fn batch(self) -> u64 {
        match self {
            Self::Decisions | Self::AaepSessions | Self::Plans | Self::LooseSessions => 250,
            Self::Clarifications => 50,
            Self::Feed | Self::Delegations | Self::LooseEntries => 1000,
        }
    }
}

/// Transactions of one kind that one call makes, so that a long backlog is removed in the course of many.
pub(crate) const ROUNDS: u64 = 8;

/// Removes one batch; how many rows that were, less than the batch if nothing is left.
pub(crate) async fn remove<S: Sql>(sql: &mut S, what: Expired, before: UnixMillis) -> Result<u64, Failure> {
    match what {
        Expired::Decisions => decisions(sql, before).await,
        Expired::AaepSessions => rows(sql, what, "aaep_sessions", AAEP_SESSIONS, before.0).await,
        Expired::Plans => rows(sql, what, "plans", PLANS, before.0).await,
        Expired::Clarifications => clarifications(sql, before).await,
        Expired::Feed => along_the_log(sql, what, FEED, before).await,
        Expired::Delegations => delegations(sql, before).await,
        Expired::LooseEntries => along_the_log(sql, what, LOOSE_ENTRIES, before).await,
        Expired::LooseSessions => rows(sql, what, "sessions", LOOSE_SESSIONS, first_key_at(before)).await,
    }
}

/// A standing approval outlives its decision's settlement, and an execution may be reconciled much later. A plan that
/// is not over keeps the questions about it.
const DECISIONS: &str = "SELECT key FROM decisions d WHERE settled_at < $1 \
     AND NOT EXISTS (SELECT 1 FROM allowances a WHERE a.decision = d.key AND a.due IS NOT NULL) \
     AND NOT EXISTS (SELECT 1 FROM executions x WHERE x.decision = d.key AND (x.ended_at IS NULL OR x.ended_at >= $1)) \
     AND NOT EXISTS (SELECT 1 FROM plans p WHERE p.key = d.plan AND (p.ended_at IS NULL OR p.ended_at >= $1)) \
     ORDER BY settled_at";

const AAEP_SESSIONS: &str = "SELECT key FROM aaep_sessions s WHERE ended_at < $1 \
     AND NOT EXISTS (SELECT 1 FROM decisions d WHERE d.asked_in = s.key) ORDER BY ended_at";

const PLANS: &str = "SELECT key FROM plans p WHERE ended_at < $1 \
     AND NOT EXISTS (SELECT 1 FROM decisions d WHERE d.plan = p.key) ORDER BY ended_at";

const CLARIFICATIONS: &str = "SELECT key FROM clarification_sessions WHERE ended_at < $1 ORDER BY ended_at";

/// An AAP session is what its audit entries are found by, so it goes after them.
const LOOSE_SESSIONS: &str = "SELECT key FROM sessions s WHERE delegation IS NULL AND key < $1 \
     AND NOT EXISTS (SELECT 1 FROM audit_index i WHERE i.project = s.project AND i.kind = 1 AND i.key = s.key) \
     AND NOT EXISTS (SELECT 1 FROM audit_progress p JOIN evidence e ON e.lane = p.lane AND e.pos > p.pos \
        WHERE e.session = s.key) ORDER BY key";

/// All of it or nothing: as long as a decision, a plan or a late entry of it is kept, so is the rest.
const DELEGATIONS: &str = "SELECT key, project FROM delegations d WHERE ended_at < $1 \
     AND NOT EXISTS (SELECT 1 FROM decisions x WHERE x.project = d.project AND x.principal = d.id) \
     AND NOT EXISTS (SELECT 1 FROM plans x WHERE x.project = d.project AND x.principal = d.id) \
     AND NOT EXISTS (SELECT 1 FROM audit_index i WHERE i.project = d.project AND i.kind = 0 AND i.key = d.key \
        AND i.at >= $1) \
     AND NOT EXISTS (SELECT 1 FROM audit_progress p JOIN evidence e ON e.lane = p.lane AND e.pos > p.pos \
        WHERE e.delegation = d.key) ORDER BY ended_at";

async fn rows<S: Sql>(sql: &mut S, what: Expired, table: &str, expired: &str, before: i64) -> Result<u64, Failure> {
    let keys = keys(sql, what, expired, before).await?;
    delete(sql, table, "key", &keys).await?;
    Ok(keys.len() as u64)
}

async fn decisions<S: Sql>(sql: &mut S, before: UnixMillis) -> Result<u64, Failure> {
    let keys = keys(sql, Expired::Decisions, DECISIONS, before.0).await?;
    delete(sql, "allowances", "decision", &keys).await?;
    // An effect that was carried out is not carried out again, however long ago that was.
    delete(sql, "executions", "live_effect IS NULL AND decision", &keys).await?;
    delete(sql, "held_requests", "key", &keys).await?;
    delete(sql, "decisions", "key", &keys).await?;
    Ok(keys.len() as u64)
}

async fn clarifications<S: Sql>(sql: &mut S, before: UnixMillis) -> Result<u64, Failure> {
    let keys = keys(sql, Expired::Clarifications, CLARIFICATIONS, before.0).await?;
    delete(sql, "clarification_entries", "session", &keys).await?;
    delete(sql, "clarification_sessions", "key", &keys).await?;
    Ok(keys.len() as u64)
}

async fn delegations<S: Sql>(sql: &mut S, before: UnixMillis) -> Result<u64, Failure> {
    const AT_ONCE: usize = 20;
    let batch = Expired::Delegations.batch();
    let text = format!("{DELEGATIONS} LIMIT {AT_ONCE} {}", S::SKIP_LOCKED);
    let found = sql.query(&text, &[before.0.into()]).await?;
    let mut removed = 0;
    for row in &found {
        let (key, project) = (row.int(0)?, row.int(1)?);
        removed += entries_of(sql, project, key, batch.saturating_sub(removed)).await?;
        if removed >= batch {
            return Ok(removed);
        }
        sql.execute("DELETE FROM sessions WHERE project = $1 AND delegation = $2", &[project.into(), key.into()])
            .await?;
        delete(sql, "delegations", "key", &[key]).await?;
    }
    // There may be more of them, even if none of these had many entries.
    Ok(if found.len() == AT_ONCE { batch } else { removed })
}

/// Removes the first audit entries of a delegation: what they hide, and by what they are found. The leaves stay.
async fn entries_of<S: Sql>(sql: &mut S, project: RowKey, key: RowKey, limit: u64) -> Result<u64, Failure> {
    let text = format!(
        "SELECT at, lane, seq, pos FROM audit_index WHERE project = $1 AND kind = 0 AND key = $2 \
         ORDER BY at, lane, seq LIMIT {limit}"
    );
    let found = sql.query(&text, &[project.into(), key.into()]).await?;
    let Some(last) = found.last() else { return Ok(0) };
    for (lane, positions) in by_lane(&found)? {
        let of_session = format!(
            "DELETE FROM audit_index WHERE (project, kind, key, at, lane, seq) IN \
             (SELECT project, 1, session, at, lane, seq FROM evidence WHERE lane = $1 AND {} AND session IS NOT NULL)",
            S::one_of("pos", "$2")
        );
        let openings = format!("DELETE FROM evidence_openings WHERE lane = $1 AND {}", S::one_of("pos", "$2"));
        let params = [lane.into(), Value::List(positions)];
        sql.execute(&of_session, &params).await?;
        sql.execute(&openings, &params).await?;
    }
    let indexed =
        "DELETE FROM audit_index WHERE project = $1 AND kind = 0 AND key = $2 AND (at, lane, seq) <= ($3, $4, $5)";
    let up_to = [last.int(0)?, last.int(1)?, last.int(2)?].map(Value::from);
    let params: Vec<Value> = [project.into(), key.into()].into_iter().chain(up_to).collect();
    sql.execute(indexed, &params).await?;
    Ok(found.len() as u64)
}

fn by_lane(entries: &[Row]) -> Result<BTreeMap<i64, Vec<i64>>, Failure> {
    let mut lanes: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for entry in entries {
        lanes.entry(entry.int(1)?).or_default().push(entry.int(3)?);
    }
    Ok(lanes)
}

/// What `retention_progress` calls them.
const FEED: i64 = 0;
const LOOSE_ENTRIES: i64 = 1;

/// Goes through the log from where it stopped the last time up to the first entry that is young enough. What is not
/// indexed yet waits, or its index row would be written after it.
async fn along_the_log<S: Sql>(sql: &mut S, what: Expired, kind: i64, before: UnixMillis) -> Result<u64, Failure> {
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
        let Some((to, passed)) = last_expired(sql, lane, from, before, left).await? else { continue };
        let range = [lane.into(), from.into(), to.into()];
        match what {
            Expired::Feed => feed(sql, &range).await?,
            _ => loose_entries(sql, &range).await?,
        }
        let text = format!("UPDATE retention_progress SET pos = $1 WHERE kind = {kind} AND lane = $2");
        sql.execute(&text, &[to.into(), lane.into()]).await?;
        left = left.saturating_sub(passed);
    }
    Ok(what.batch() - left)
}

/// The last of the next entries of a lane that are all old enough, and how many these are.
async fn last_expired<S: Sql>(
    sql: &mut S,
    lane: i64,
    from: i64,
    before: UnixMillis,
    limit: u64,
) -> Result<Option<(i64, u64)>, Failure> {
    const NEXT: &str = "SELECT e.pos, e.at FROM evidence e JOIN audit_progress p ON p.lane = e.lane \
         WHERE e.lane = $1 AND e.pos > $2 AND e.pos <= p.pos ORDER BY e.pos";
    let mut last = None;
    // Mostly the first one is too young.
    for limit in [limit.min(1), limit] {
        let next = sql.query(&format!("{NEXT} LIMIT {limit}"), &[lane.into(), from.into()]).await?;
        last = None;
        for (row, n) in next.iter().zip(1..) {
            if row.int(1)? >= before.0 {
                break;
            }
            last = Some((row.int(0)?, n));
        }
        if last.is_none() {
            break;
        }
    }
    Ok(last)
}

async fn feed<S: Sql>(sql: &mut S, range: &[Value]) -> Result<(), Failure> {
    let text = "DELETE FROM feed WHERE (project, lane, pos) IN \
         (SELECT project, lane, pos FROM evidence WHERE lane = $1 AND pos > $2 AND pos <= $3)";
    sql.execute(text, range).await.map(drop)
}

async fn loose_entries<S: Sql>(sql: &mut S, range: &[Value]) -> Result<(), Failure> {
    let indexed = "DELETE FROM audit_index WHERE (project, kind, key, at, lane, seq) IN \
         (SELECT project, 1, session, at, lane, seq FROM evidence \
          WHERE lane = $1 AND pos > $2 AND pos <= $3 AND delegation IS NULL AND session IS NOT NULL)";
    sql.execute(indexed, range).await?;
    let openings = "DELETE FROM evidence_openings WHERE (lane, pos) IN \
         (SELECT lane, pos FROM evidence WHERE lane = $1 AND pos > $2 AND pos <= $3 AND delegation IS NULL)";
    sql.execute(openings, range).await.map(drop)
}

async fn keys<S: Sql>(sql: &mut S, what: Expired, expired: &str, before: i64) -> Result<Vec<RowKey>, Failure> {
    let text = format!("{expired} LIMIT {} {}", what.batch(), S::SKIP_LOCKED);
    sql.query(&text, &[before.into()]).await?.iter().map(|row| row.int(0)).collect()
}

async fn delete<S: Sql>(sql: &mut S, table: &str, column: &str, keys: &[RowKey]) -> Result<(), Failure> {
    if keys.is_empty() {
        return Ok(());
    }
    let text = format!("DELETE FROM {table} WHERE {}", S::one_of(column, "$1"));
    sql.execute(&text, &[Value::List(keys.to_vec())]).await.map(drop)
}
