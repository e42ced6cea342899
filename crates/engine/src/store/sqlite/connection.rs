//! A connection to SQLite, and its clock.

use super::{row_cache::RowCache, watch::FileWatch};
use crate::store::SpentProofs;
use crate::store::{
    StoreClock,
    error::StoreFailure,
    position::Keeper,
    record_cache::RecordCache,
    signals::Listeners,
    sql::{Access, Row, Sql, SqlValue},
};
use rusqlite::{ErrorCode, ToSql, types::ToSqlOutput, types::ValueRef};
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

/// The writer's clock. It never goes backwards, not even over a restart, unless an administrator sets it.
pub(super) struct SteadyClock {
    read: StoreClock,
    last: AtomicI64,
}

impl SteadyClock {
    pub(super) fn new(read: StoreClock) -> Self {
        Self { read, last: AtomicI64::new(i64::MIN) }
    }

    pub(super) fn not_before(&self, at: i64) {
        self.last.fetch_max(at, Ordering::Relaxed);
    }

    /// Also to an earlier time.
    pub(super) fn set(&self, at: i64) {
        self.last.store(at, Ordering::Relaxed);
    }

    pub(super) fn now(&self) -> i64 {
        let now = (self.read)().0;
        self.last.fetch_max(now, Ordering::Relaxed).max(now)
    }
}

/// The data that a crash of the machine may lose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Durability {
    /// Nothing that was acknowledged.
    Full,
    /// Everything: the folder is temporary.
    None,
}

pub(super) struct SqliteConnection {
    pub(super) inner: rusqlite::Connection,
    pub(super) clock: Arc<SteadyClock>,
    /// The listeners of the writer; empty for readers.
    pub(super) listeners: Listeners,
    /// The proofs that the writer saw; empty for readers.
    pub(super) proofs: SpentProofs,
    /// Rows that the writer need not read again.
    pub(super) known: RowCache,
    /// The records that the writer shares with look-ups; none for readers.
    pub(super) records: Option<Arc<RecordCache>>,
    /// The writer's watch on its files, and its last acknowledged position; none for readers.
    pub(super) watch: Option<FileWatch>,
    pub(super) keeper: Option<Keeper>,
    /// Whether this is the only writer, so that the log may be checkpointed into the file.
    pub(super) alone: bool,
}

const BUSY: Duration = Duration::from_secs(2);
/// More than there are different statements, so that each is prepared once a connection.
const STATEMENTS: usize = 1024;
const SWITCHES: usize = 16;
/// 1 MiB and 2 MiB of pages of 4 KiB.
const SPARE_PAGES: i64 = 256;
pub(super) const RECLAIMED_PAGES: u64 = 512;
/// A log that grew during a long read is truncated to this when it restarts.
const LOG_BYTES: i64 = 64 * 1024 * 1024;

impl SqliteConnection {
    pub(super) fn open(path: &Path, durability: Durability, clock: Arc<SteadyClock>) -> rusqlite::Result<Self> {
        let inner = rusqlite::Connection::open(path)?;
        inner.busy_timeout(BUSY)?;
        // Takes effect only on a file without tables, and before its first page is written.
        inner.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        Self::set_up(inner, durability, clock)
    }

    /// Beside the writer, whose watch takes each change of the file by somebody else for another program's: setting
    /// `auto_vacuum` writes, and a write may be followed by a checkpoint.
    pub(super) fn open_reader(path: &Path, durability: Durability, clock: Arc<SteadyClock>) -> rusqlite::Result<Self> {
        let inner = rusqlite::Connection::open(path)?;
        inner.busy_timeout(BUSY)?;
        inner.pragma_update(None, "wal_autocheckpoint", 0)?;
        Self::set_up(inner, durability, clock)
    }

    fn set_up(inner: rusqlite::Connection, durability: Durability, clock: Arc<SteadyClock>) -> rusqlite::Result<Self> {
        inner.set_prepared_statement_cache_capacity(STATEMENTS);
        write_ahead(&inner)?;
        inner.pragma_update(None, "journal_size_limit", LOG_BYTES)?;
        inner.pragma_update(None, "synchronous", if durability == Durability::Full { "FULL" } else { "OFF" })?;
        inner.pragma_update(None, "temp_store", "MEMORY")?;
        // Deleted content is overwritten, so that an erased opening is not left in a free page.
        inner.pragma_update(None, "secure_delete", "ON")?;
        Ok(Self {
            inner,
            clock,
            listeners: Listeners::default(),
            proofs: SpentProofs::default(),
            known: RowCache::default(),
            records: None,
            watch: None,
            keeper: None,
            alone: true,
        })
    }

    /// Beside a node that watches its files: only the node checkpoints its log.
    pub(super) fn disable_checkpoints(&mut self) -> rusqlite::Result<()> {
        self.alone = false;
        self.inner.pragma_update(None, "wal_autocheckpoint", 0)
    }

    pub(super) fn check_files(&self) -> Result<(), StoreFailure> {
        self.watch.as_ref().map_or(Ok(()), FileWatch::check_unchanged)
    }

    pub(super) fn run(&self, sql: &str, params: &[SqlValue]) -> rusqlite::Result<u64> {
        let mut statement = self.inner.prepare_cached(sql)?;
        bind(&mut statement, params)?;
        statement.raw_execute().map(|rows| rows as u64)
    }

    pub(super) fn rows(&self, sql: &str, params: &[SqlValue]) -> rusqlite::Result<Vec<Row>> {
        let mut statement = self.inner.prepare_cached(sql)?;
        bind(&mut statement, params)?;
        let columns = statement.column_count();
        let mut found = statement.raw_query();
        let mut rows = Vec::new();
        while let Some(row) = found.next()? {
            rows.push(Row((0..columns).map(|n| row.get_ref(n).map(owned)).collect::<Result<_, _>>()?));
        }
        Ok(rows)
    }
}

/// If two connections switch a new file at the same moment, SQLite refuses one at once despite its busy timeout. That one
/// waits for the other's lock, and tries again.
fn write_ahead(connection: &rusqlite::Connection) -> rusqlite::Result<()> {
    let switch = || connection.pragma_update(None, "journal_mode", "WAL");
    for _ in 0..SWITCHES {
        match switch() {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK")?;
            }
            switched => return switched,
        }
    }
    switch()
}

fn bind(statement: &mut rusqlite::Statement<'_>, params: &[SqlValue]) -> rusqlite::Result<()> {
    params.iter().zip(1..).try_for_each(|(value, n)| statement.raw_bind_parameter(n, value))
}

fn owned(value: ValueRef<'_>) -> SqlValue {
    match value {
        ValueRef::Integer(int) => SqlValue::Int(int),
        ValueRef::Text(text) => SqlValue::Text(match std::str::from_utf8(text) {
            Ok(text) => text.to_owned(),
            Err(_) => String::from_utf8_lossy(text).into_owned(),
        }),
        ValueRef::Blob(bytes) => SqlValue::Bytes(bytes.to_vec()),
        // No column has this type.
        ValueRef::Null | ValueRef::Real(_) => SqlValue::Null,
    }
}

impl ToSql for SqlValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Int(int) => ToSqlOutput::Borrowed(ValueRef::Integer(*int)),
            Self::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Self::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
            Self::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            Self::List(list) => {
                let items: Vec<String> = list.iter().map(i64::to_string).collect();
                ToSqlOutput::Owned(rusqlite::types::Value::Text(format!("[{}]", items.join(","))))
            }
        })
    }
}

impl Sql for SqliteConnection {
    const NAME: &'static str = "sqlite";
    const TABLE_SIZES: &'static str = "SELECT m.tbl_name, sum(s.pgsize) FROM dbstat s JOIN sqlite_master m ON m.name = s.name \
         WHERE s.aggregate = 1 AND m.tbl_name NOT LIKE 'sqlite_%' GROUP BY m.tbl_name";
    const DATABASE_SIZE: &'static str = "SELECT (SELECT page_count FROM pragma_page_count()) * page_size, \
         (SELECT freelist_count FROM pragma_freelist_count()) * page_size, \
         (SELECT auto_vacuum FROM pragma_auto_vacuum()) FROM pragma_page_size()";
    const SKIP_LOCKED: &'static str = "";
    const ACCOUNT_GRANT: &'static str = "json_extract(s.doc, '$.service_account.delegation')";

    fn one_of(column: &str, placeholder: &str) -> String {
        format!("{column} IN (SELECT value FROM json_each({placeholder}))")
    }

    async fn now(&mut self) -> Result<i64, StoreFailure> {
        Ok(self.clock.now())
    }

    async fn query(&mut self, sql: &str, params: &[SqlValue]) -> Result<Vec<Row>, StoreFailure> {
        self.rows(sql, params).map_err(failure)
    }

    async fn execute(&mut self, sql: &str, params: &[SqlValue]) -> Result<u64, StoreFailure> {
        self.run(sql, params).map_err(failure)
    }

    async fn begin(&mut self, access: Access) -> Result<(), StoreFailure> {
        let text = if access == Access::Write { "BEGIN IMMEDIATE" } else { "BEGIN" };
        self.known.clear();
        if access == Access::Write {
            self.check_files()?;
        }
        self.run(text, &[]).map(|_| ()).map_err(failure)
    }

    async fn commit(&mut self) -> Result<(), StoreFailure> {
        self.run("COMMIT", &[]).map_err(commit_failure)?;
        // It is durable, but perhaps in a file that has lost its name.
        let lost = |why: StoreFailure| StoreFailure::Unknown(why.to_string());
        self.watch.as_mut().map_or(Ok(()), FileWatch::note_written).map_err(lost)
    }

    /// A step frees only so many pages that a commit in between waits a few milliseconds at most.
    async fn reclaim(&mut self) -> Result<u64, StoreFailure> {
        let free = |connection: &Self| {
            let rows = connection.rows("PRAGMA freelist_count", &[]).map_err(failure)?;
            rows.first().map_or(Ok(0), |row| row.int(0))
        };
        let before = free(self)?;
        // Some free pages stay, to be filled without growing the file.
        if before <= SPARE_PAGES {
            return Ok(0);
        }
        self.rows(&format!("PRAGMA incremental_vacuum({RECLAIMED_PAGES})"), &[]).map_err(failure)?;
        Ok(u64::try_from(before - free(self)?).unwrap_or(0))
    }

    async fn rollback(&mut self) {
        if !self.inner.is_autocommit() {
            // It can only fail after SQLite's own rollback.
            let _over = self.run("ROLLBACK", &[]);
        }
    }
}

pub(super) fn failure(error: rusqlite::Error) -> StoreFailure {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreFailure::Again(error.to_string()),
        Some(ErrorCode::DiskFull) => {
            StoreFailure::Refused("the disk is full; make room, and it continues by itself".into())
        }
        Some(ErrorCode::ReadOnly) => {
            StoreFailure::Refused("the database file cannot be written; check its owner and its file system".into())
        }
        _ => StoreFailure::Refused(error.to_string()),
    }
}

/// A commit that failed in the file system may be found complete after a crash.
fn commit_failure(error: rusqlite::Error) -> StoreFailure {
    match error.sqlite_error_code() {
        Some(ErrorCode::SystemIoFailure) => StoreFailure::Unknown(error.to_string()),
        _ => failure(error),
    }
}
