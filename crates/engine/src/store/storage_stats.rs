//! The size of each kind of record, and the age of its oldest one.

use super::{error::StoreFailure, retention::Expired, sql::Sql};
use countersign_protocol::time::UnixMillis;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StorageStats {
    /// "sqlite" or "postgres".
    pub database: String,
    pub total_bytes: u64,
    /// Of the total: free pages, to be filled again or given back.
    pub free_bytes: u64,
    /// The write-ahead log beside a SQLite file.
    pub log_bytes: Option<u64>,
    /// Whether free pages are given back to the file system while the node runs.
    pub gives_back: bool,
    /// Evidence leaves of the last day, and the estimated bytes per day, everything included.
    pub leaves_last_day: u64,
    pub bytes_last_day: u64,
    pub kinds: Vec<KindStats>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KindStats {
    pub kind: String,
    pub rows: u64,
    /// With its indexes.
    pub bytes: u64,
    /// The time of its oldest row: of an entry, or of the end of a record that ended.
    pub oldest: Option<UnixMillis>,
    /// The retention setting; none for records that are never removed, or that expire by themselves.
    pub setting: Option<String>,
    /// Retention removes no row of it before this time; none while no row of it has ended, or while open records hold
    /// all that have.
    pub next_removal: Option<UnixMillis>,
    /// The earliest end of a row that no other record holds.
    #[serde(skip)]
    unheld: Option<UnixMillis>,
    /// The earliest end of a row that only ended records of other kinds hold.
    #[serde(skip)]
    held: Option<UnixMillis>,
}

struct RecordKind {
    name: &'static str,
    tables: &'static [&'static str],
    oldest: Option<&'static str>,
    removed: Option<Removal>,
}

struct Removal {
    setting: &'static str,
    what: Expired,
    /// Finds the earliest end of a row that no other record holds; none where nothing is ever held.
    unheld: Option<&'static str>,
    /// Finds the earliest end of a row that only ended records of other kinds hold, and names these kinds: it is
    /// removed after them.
    held: Option<(&'static str, &'static [&'static str])>,
}

const DECISIONS: &str = "decisions";
const PLANS: &str = "plans";
const DELEGATIONS: &str = "delegations and AAP sessions";

/// Retention goes through the log in its order. An entry of a delegation is removed with the delegation.
const LOOSE_ENTRIES: &str = "SELECT min((SELECT e.at FROM evidence e WHERE e.lane = l.lane AND e.delegation IS NULL \
     AND e.pos > coalesce((SELECT r.pos FROM retention_progress r WHERE r.kind = 1 AND r.lane = l.lane), 0) \
     ORDER BY e.pos LIMIT 1)) FROM lanes l";

/// The condition that a decision `d` is open, or that a standing approval, an open execution or an open plan holds it.
macro_rules! open_decision {
    () => {
        "(d.settled_at IS NULL \
         OR (SELECT 1 FROM allowances a WHERE a.decision = d.key AND a.due IS NOT NULL LIMIT 1) IS NOT NULL \
         OR (SELECT 1 FROM executions x WHERE x.decision = d.key AND x.ended_at IS NULL LIMIT 1) IS NOT NULL \
         OR (SELECT 1 FROM plans p WHERE p.key = d.plan AND p.ended_at IS NULL LIMIT 1) IS NOT NULL)"
    };
}

/// The last end among a decision, its executions and its plan.
const ENDED_DECISIONS: &str = concat!(
    "SELECT min((SELECT max(o.at) FROM (SELECT d.settled_at AS at \
        UNION ALL SELECT x.ended_at FROM executions x WHERE x.decision = d.key \
        UNION ALL SELECT p.ended_at FROM plans p WHERE p.key = d.plan) o)) FROM decisions d WHERE NOT ",
    open_decision!()
);

const ENDED_AAEP_SESSIONS: &str = "SELECT min(ended_at) FROM aaep_sessions s WHERE ended_at IS NOT NULL \
     AND (SELECT 1 FROM decisions d WHERE d.asked_in = s.key LIMIT 1) IS NULL";
const HELD_AAEP_SESSIONS: &str = concat!(
    "SELECT min(ended_at) FROM aaep_sessions s WHERE ended_at IS NOT NULL \
     AND (SELECT 1 FROM decisions d WHERE d.asked_in = s.key LIMIT 1) IS NOT NULL \
     AND (SELECT 1 FROM decisions d WHERE d.asked_in = s.key AND ",
    open_decision!(),
    " LIMIT 1) IS NULL"
);

const ENDED_PLANS: &str = "SELECT min(ended_at) FROM plans s WHERE ended_at IS NOT NULL \
     AND (SELECT 1 FROM decisions d WHERE d.plan = s.key LIMIT 1) IS NULL";
const HELD_PLANS: &str = concat!(
    "SELECT min(ended_at) FROM plans s WHERE ended_at IS NOT NULL \
     AND (SELECT 1 FROM decisions d WHERE d.plan = s.key LIMIT 1) IS NOT NULL \
     AND (SELECT 1 FROM decisions d WHERE d.plan = s.key AND ",
    open_decision!(),
    " LIMIT 1) IS NULL"
);

/// The end of a delegation, or its last entry if that is later.
macro_rules! ended_delegations {
    () => {
        "SELECT min((SELECT max(o.at) FROM (SELECT s.ended_at AS at \
            UNION ALL SELECT max(i.at) FROM audit_index i WHERE i.project = s.project AND i.kind = 0 AND i.key = s.key) o)) \
         FROM delegations s WHERE ended_at IS NOT NULL"
    };
}
const ENDED_DELEGATIONS: &str = concat!(
    ended_delegations!(),
    " AND (SELECT 1 FROM decisions d WHERE d.project = s.project AND d.principal = s.id LIMIT 1) IS NULL \
     AND (SELECT 1 FROM plans p WHERE p.project = s.project AND p.principal = s.id LIMIT 1) IS NULL"
);
const HELD_DELEGATIONS: &str = concat!(
    ended_delegations!(),
    " AND ((SELECT 1 FROM decisions d WHERE d.project = s.project AND d.principal = s.id LIMIT 1) IS NOT NULL \
     OR (SELECT 1 FROM plans p WHERE p.project = s.project AND p.principal = s.id LIMIT 1) IS NOT NULL) \
     AND (SELECT 1 FROM plans p WHERE p.project = s.project AND p.principal = s.id AND p.ended_at IS NULL LIMIT 1) IS NULL \
     AND (SELECT 1 FROM decisions d WHERE d.project = s.project AND d.principal = s.id AND ",
    open_decision!(),
    " LIMIT 1) IS NULL"
);

const KINDS: &[RecordKind] = &[
    RecordKind {
        name: "evidence leaves",
        tables: &["evidence", "lanes", "lane_heads"],
        oldest: Some("SELECT min(e.at) FROM evidence e WHERE e.pos = 1"),
        removed: None,
    },
    RecordKind {
        name: "evidence openings",
        tables: &["evidence_openings"],
        oldest: Some(
            "SELECT min(e.at) FROM evidence e JOIN (SELECT lane, min(pos) AS pos FROM evidence_openings GROUP BY lane) o \
             ON o.lane = e.lane AND o.pos = e.pos",
        ),
        removed: Some(Removal {
            setting: "retention.audit_days",
            what: Expired::LooseEntries,
            unheld: Some(LOOSE_ENTRIES),
            held: Some(("SELECT min(at) FROM audit_index WHERE kind = 0", &[DELEGATIONS])),
        }),
    },
    RecordKind {
        name: "audit index",
        tables: &["audit_index", "audit_progress", "retention_progress"],
        oldest: Some("SELECT min(at) FROM audit_index"),
        removed: Some(Removal {
            setting: "retention.audit_days",
            what: Expired::LooseEntries,
            unheld: Some(LOOSE_ENTRIES),
            held: Some(("SELECT min(at) FROM audit_index WHERE kind = 0", &[DELEGATIONS])),
        }),
    },
    RecordKind {
        name: DELEGATIONS,
        tables: &["delegations", "sessions", "session_keys", "revoked_receipts", "outbox_messages"],
        oldest: Some("SELECT min(ended_at) FROM delegations WHERE ended_at IS NOT NULL"),
        removed: Some(Removal {
            setting: "retention.audit_days",
            what: Expired::Delegations,
            unheld: Some(ENDED_DELEGATIONS),
            held: Some((HELD_DELEGATIONS, &[DECISIONS, PLANS])),
        }),
    },
    RecordKind {
        name: DECISIONS,
        tables: &["decisions", "allowances", "executions", "held_requests"],
        oldest: Some("SELECT min(settled_at) FROM decisions WHERE settled_at IS NOT NULL"),
        removed: Some(Removal {
            setting: "retention.decisions_days",
            what: Expired::Decisions,
            unheld: Some(ENDED_DECISIONS),
            held: None,
        }),
    },
    RecordKind {
        name: "AAEP sessions",
        tables: &["aaep_sessions"],
        oldest: Some("SELECT min(ended_at) FROM aaep_sessions WHERE ended_at IS NOT NULL"),
        removed: Some(Removal {
            setting: "retention.decisions_days",
            what: Expired::AaepSessions,
            unheld: Some(ENDED_AAEP_SESSIONS),
            held: Some((HELD_AAEP_SESSIONS, &[DECISIONS])),
        }),
    },
    RecordKind {
        name: PLANS,
        tables: &["plans"],
        oldest: Some("SELECT min(ended_at) FROM plans WHERE ended_at IS NOT NULL"),
        removed: Some(Removal {
            setting: "retention.plans_days",
            what: Expired::Plans,
            unheld: Some(ENDED_PLANS),
            held: Some((HELD_PLANS, &[DECISIONS])),
        }),
    },
    RecordKind {
        name: "clarification sessions",
        tables: &["clarification_sessions", "clarification_entries"],
        oldest: Some("SELECT min(ended_at) FROM clarification_sessions"),
        removed: Some(Removal {
            setting: "retention.clarifications_days",
            what: Expired::Clarifications,
            unheld: None,
            held: None,
        }),
    },
    RecordKind {
        name: "bus events and learning samples",
        tables: &["feed"],
        oldest: Some(
            "SELECT min(e.at) FROM evidence e JOIN (SELECT lane, min(pos) AS pos FROM feed GROUP BY lane) f \
             ON f.lane = e.lane AND f.pos = e.pos",
        ),
        removed: Some(Removal { setting: "retention.feed_days", what: Expired::Feed, unheld: None, held: None }),
    },
    RecordKind {
        name: "short-lived",
        tables: &[
            "counts",
            "once_keys",
            "access_tokens",
            "web_sessions",
            "disclosures",
            "connect_requests",
            "subscriptions",
            "agent_events",
            "news",
            "proofs_0",
            "proofs_1",
            "proofs_2",
            "proofs_3",
        ],
        oldest: None,
        removed: None,
    },
];

const OTHER: &str = "configuration and people";

impl StorageStats {
    /// Fills in the next removal of each kind, which is `now` for rows that are due.
    pub fn with_retention(mut self, retention: &super::Retention, now: UnixMillis) -> Self {
        let next: Vec<_> = KINDS.iter().map(|kind| self.next_removal(kind, retention)).collect();
        for (stats, next) in self.kinds.iter_mut().zip(next) {
            stats.next_removal = next.map(|at| at.max(now));
        }
        self
    }

    fn next_removal(&self, kind: &RecordKind, retention: &super::Retention) -> Option<UnixMillis> {
        let removal = kind.removed.as_ref()?;
        let stats = self.kinds.iter().find(|stats| stats.kind == kind.name)?;
        let due = |end: UnixMillis| end.plus_secs(retention.days(removal.what).saturating_mul(86_400));
        let holders = removal.held.map_or(&[][..], |(_, holders)| holders);
        let holders = KINDS.iter().filter(|other| holders.contains(&other.name));
        let released = holders.filter_map(|holder| self.next_removal(holder, retention)).min();
        let held = stats.held.zip(released).map(|(end, released)| due(end).max(released));
        stats.unheld.map(due).into_iter().chain(held).min()
    }
}

pub(crate) async fn read<S: Sql>(sql: &mut S, log_bytes: Option<u64>) -> Result<StorageStats, StoreFailure> {
    let now = sql.now().await?;
    let mut tables: BTreeMap<String, u64> = BTreeMap::new();
    for row in sql.query(S::TABLE_SIZES, &[]).await? {
        tables.insert(row.text(0)?, unsigned(row.int(1)?));
    }
    let file = sql.query(S::DATABASE_SIZE, &[]).await?;
    let number = |n: usize| file.first().map_or(Ok(0), |row| row.int(n));
    let (total_bytes, free_bytes) = (unsigned(number(0)?), unsigned(number(1)?));
    let gives_back = number(2)? == 2;
    let mut kinds = Vec::new();
    for kind in KINDS {
        kinds.push(of_kind(sql, kind, &mut tables).await?);
    }
    let bytes = tables.values().sum();
    let rows = rows_of(sql, tables.keys().map(String::as_str)).await?;
    kinds.push(KindStats { kind: OTHER.to_owned(), rows, bytes, ..KindStats::default() });
    let (leaves, leaves_last_day) = leaves(sql, now - 86_400_000).await?;
    let used = total_bytes.saturating_sub(free_bytes);
    let bytes_last_day = used.checked_div(leaves).map_or(0, |bytes| bytes.saturating_mul(leaves_last_day));
    let database = S::NAME.to_owned();
    Ok(StorageStats {
        database,
        total_bytes,
        free_bytes,
        log_bytes,
        gives_back,
        leaves_last_day,
        bytes_last_day,
        kinds,
    })
}

async fn of_kind<S: Sql>(
    sql: &mut S,
    kind: &RecordKind,
    tables: &mut BTreeMap<String, u64>,
) -> Result<KindStats, StoreFailure> {
    let here: Vec<&str> = kind.tables.iter().copied().filter(|table| tables.contains_key(*table)).collect();
    let rows = rows_of(sql, here.iter().copied()).await?;
    let bytes = here.iter().filter_map(|table| tables.remove(*table)).sum();
    let oldest = moment(sql, kind.oldest).await?;
    let removal = kind.removed.as_ref();
    let unheld = match removal.and_then(|removal| removal.unheld) {
        None => oldest,
        found => moment(sql, found).await?,
    };
    let held = moment(sql, removal.and_then(|removal| removal.held).map(|(held, _)| held)).await?;
    Ok(KindStats {
        kind: kind.name.to_owned(),
        rows,
        bytes,
        oldest,
        setting: removal.map(|removal| removal.setting.to_owned()),
        next_removal: None,
        unheld,
        held,
    })
}

async fn moment<S: Sql>(sql: &mut S, text: Option<&str>) -> Result<Option<UnixMillis>, StoreFailure> {
    let Some(text) = text else { return Ok(None) };
    let found = sql.query(text, &[]).await?;
    Ok(found.first().map_or(Ok(None), |row| row.maybe_int(0))?.map(UnixMillis))
}

/// The names come from the database's own list of tables.
async fn rows_of<S: Sql>(sql: &mut S, tables: impl Iterator<Item = &str> + Send) -> Result<u64, StoreFailure> {
    let mut rows = 0;
    for table in tables {
        let counted = sql.query(&format!("SELECT count(*) FROM {table}"), &[]).await?;
        rows += counted.first().map_or(Ok(0), |row| row.int(0))?;
    }
    Ok(unsigned(rows))
}

/// All leaves, and those since `since`. The log has no index by time, but its order is nearly that of time.
async fn leaves<S: Sql>(sql: &mut S, since: i64) -> Result<(u64, u64), StoreFailure> {
    let (mut all, mut young) = (0, 0);
    for lane in sql.query("SELECT lane, next_pos FROM lanes ORDER BY lane", &[]).await? {
        let (lane, end) = (lane.int(0)?, lane.int(1)?);
        let (mut low, mut high) = (1, end);
        while low < high {
            let middle = low + (high - low) / 2;
            let text = "SELECT at FROM evidence WHERE lane = $1 AND pos = $2";
            let found = sql.query(text, &[lane.into(), middle.into()]).await?;
            let is_old = found.first().map_or(Ok(true), |row| row.int(0).map(|at| at < since))?;
            (low, high) = if is_old { (middle + 1, high) } else { (low, middle) };
        }
        all += end - 1;
        young += end - low;
    }
    Ok((unsigned(all), unsigned(young)))
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
