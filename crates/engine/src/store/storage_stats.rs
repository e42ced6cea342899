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
    /// Retention removes no row of it before this time; none while no row of it has ended.
    pub next_removal: Option<UnixMillis>,
    /// Whether its oldest row is past its time: the next run removes it, unless other records hold it.
    pub overdue: bool,
}

struct RecordKind {
    name: &'static str,
    tables: &'static [&'static str],
    oldest: Option<&'static str>,
    /// The setting of its retention.
    kept: Option<(&'static str, Expired)>,
}

const KINDS: &[RecordKind] = &[
    RecordKind {
        name: "evidence leaves",
        tables: &["evidence", "lanes", "lane_heads"],
        oldest: Some("SELECT min(e.at) FROM evidence e WHERE e.pos = 1"),
        kept: None,
    },
    RecordKind {
        name: "evidence openings",
        tables: &["evidence_openings"],
        oldest: Some(
            "SELECT min(e.at) FROM evidence e JOIN (SELECT lane, min(pos) AS pos FROM evidence_openings GROUP BY lane) o \
             ON o.lane = e.lane AND o.pos = e.pos",
        ),
        kept: Some(("retention.audit_days", Expired::LooseEntries)),
    },
    RecordKind {
        name: "transparency log",
        tables: &[
            "log_sealer",
            "log_lanes",
            "logs",
            "log_tiles",
            "log_segments",
            "checkpoints",
            "cosignatures",
            "log_keys",
        ],
        oldest: Some("SELECT min(at) FROM checkpoints"),
        kept: None,
    },
    RecordKind {
        name: "audit index",
        tables: &["audit_index", "audit_progress", "retention_progress"],
        oldest: Some("SELECT min(at) FROM audit_index"),
        kept: Some(("retention.audit_days", Expired::LooseEntries)),
    },
    RecordKind {
        name: "delegations and AAP sessions",
        tables: &["delegations", "sessions", "session_keys", "revoked_receipts", "outbox_messages"],
        oldest: Some("SELECT min(ended_at) FROM delegations WHERE ended_at IS NOT NULL"),
        kept: Some(("retention.audit_days", Expired::Delegations)),
    },
    RecordKind {
        name: "decisions",
        tables: &["decisions", "allowances", "executions", "held_requests"],
        oldest: Some("SELECT min(settled_at) FROM decisions WHERE settled_at IS NOT NULL"),
        kept: Some(("retention.decisions_days", Expired::Decisions)),
    },
    RecordKind {
        name: "AAEP sessions",
        tables: &["aaep_sessions"],
        oldest: Some("SELECT min(ended_at) FROM aaep_sessions WHERE ended_at IS NOT NULL"),
        kept: Some(("retention.decisions_days", Expired::AaepSessions)),
    },
    RecordKind {
        name: "plans",
        tables: &["plans"],
        oldest: Some("SELECT min(ended_at) FROM plans WHERE ended_at IS NOT NULL"),
        kept: Some(("retention.plans_days", Expired::Plans)),
    },
    RecordKind {
        name: "clarification sessions",
        tables: &["clarification_sessions", "clarification_entries"],
        oldest: Some("SELECT min(ended_at) FROM clarification_sessions"),
        kept: Some(("retention.clarifications_days", Expired::Clarifications)),
    },
    RecordKind {
        name: "bus events and learning samples",
        tables: &["feed"],
        oldest: Some(
            "SELECT min(e.at) FROM evidence e JOIN (SELECT lane, min(pos) AS pos FROM feed GROUP BY lane) f \
             ON f.lane = e.lane AND f.pos = e.pos",
        ),
        kept: Some(("retention.feed_days", Expired::Feed)),
    },
];

/// Beside the records that expire by themselves.
const SHORT_LIVED: [&str; 7] = ["counts", "once_keys", "news", "proofs_0", "proofs_1", "proofs_2", "proofs_3"];
const OTHER: &str = "configuration and people";

impl StorageStats {
    /// Fills in the next removal of each kind: the earliest one that its oldest row allows, and `now` for an overdue one.
    /// Only retention itself knows the rows that other records hold.
    pub fn with_retention(mut self, retention: &super::Retention, now: UnixMillis) -> Self {
        for (stats, kind) in self.kinds.iter_mut().zip(KINDS) {
            let Some((oldest, (_, what))) = stats.oldest.zip(kind.kept) else { continue };
            let due = oldest.plus_secs(retention.days(what).saturating_mul(86_400));
            stats.overdue = due < now;
            stats.next_removal = Some(due.max(now));
        }
        self
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
    let expiring = SHORT_LIVED.into_iter().chain(super::tables::SWEPT.iter().map(|swept| swept.table));
    let expiring = expiring.filter_map(|table| tables.remove_entry(table)).collect();
    for (kind, tables) in [("short-lived", expiring), (OTHER, tables)] {
        let rows = rows_of(sql, tables.keys().map(String::as_str)).await?;
        kinds.push(KindStats { kind: kind.to_owned(), rows, bytes: tables.values().sum(), ..KindStats::default() });
    }
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
    Ok(KindStats {
        kind: kind.name.to_owned(),
        rows,
        bytes,
        oldest,
        setting: kind.kept.map(|(setting, _)| setting.to_owned()),
        ..KindStats::default()
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
