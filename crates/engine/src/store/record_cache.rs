//! Records in memory, typed, so that a warm look-up neither runs SQL nor parses JSON.
//!
//! Only for a database with one writer: it stores each committed change here, in the order of the commits and before the
//! step's answer, so the cache never falls behind what a caller was told.

use super::{
    Outcome, Search,
    absences::Absences,
    maintenance::MaintenanceJob,
    sql::SqlValue,
    step::{Ready, RowChange},
    tables,
};
use countersign_core::records::{Allowance, Decision, Record, SharedRecord, Table};
use countersign_protocol::ids::RowKey;
use quick_cache::{Weighter, sync::Cache};
use std::{
    array,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// The bound, in bytes of the records' documents.
const BYTES: u64 = 32 * 1024 * 1024;
const KEYS: usize = 100_000;
const LISTS: usize = 20_000;

/// Tables that change so seldom that whole lists of them are kept, until one of their rows changes. Every question asks for
/// the plans and clarifications of its session, and mostly there are none.
const QUIET: [Table; 8] = [
    Table::Project,
    Table::Membership,
    Table::Person,
    Table::ApiKey,
    Table::ClarificationKey,
    Table::ClarificationSession,
    Table::Plan,
    Table::WebhookEnrolment,
];

/// Tables in which a search by unique columns mostly finds nothing, and which change seldom: every registration looks
/// whether its receipt was revoked and whether its session has a heartbeat. That there is nothing is kept like a list.
const MOSTLY_ABSENT: [Table; 3] = [Table::RevokedReceipt, Table::Heartbeat, Table::Rollback];

pub(crate) struct RecordCache {
    rows: Cache<(Table, RowKey), CachedRow, ByDocument>,
    /// The keys of rows with these unique columns.
    keys: Cache<Search, RowKey>,
    /// The results of other searches in quiet tables, and those without a result, with the version of the table that they
    /// were read from.
    lists: Cache<Search, (u64, Arc<[SharedRecord]>)>,
    table_versions: [AtomicU64; Table::ALL.len()],
    /// All allowances of decisions that were settled here: a step that settles one makes them.
    allowances: Cache<RowKey, Arc<[RowKey]>>,
    pub(crate) absences: Absences,
    /// The number of changes so far. A reader stores what it read only if there was none meanwhile.
    changes: Mutex<u64>,
}

#[derive(Clone)]
struct CachedRow {
    record: SharedRecord,
    document_bytes: u64,
    /// The row's version if this process wrote it: then its columns are known as well.
    own_version: Option<i64>,
}

#[derive(Clone)]
struct ByDocument;

impl Weighter<(Table, RowKey), CachedRow> for ByDocument {
    fn weight(&self, _: &(Table, RowKey), row: &CachedRow) -> u64 {
        row.document_bytes.max(64)
    }
}

/// A row as it was read.
pub(crate) struct ReadRow {
    pub(crate) key: RowKey,
    pub(crate) record: SharedRecord,
    pub(crate) document_bytes: usize,
}

/// The state of the cache when a read began.
#[derive(Clone, Copy)]
pub(crate) struct ReadMark(u64);

impl Default for RecordCache {
    fn default() -> Self {
        Self {
            rows: Cache::with_weighter(KEYS, BYTES, ByDocument),
            keys: Cache::new(KEYS),
            lists: Cache::new(LISTS),
            table_versions: array::from_fn(|_| AtomicU64::default()),
            allowances: Cache::new(KEYS),
            absences: Absences::default(),
            changes: Mutex::default(),
        }
    }
}

impl RecordCache {
    /// The result of a search, if it is known.
    pub(crate) fn find(&self, search: &Search) -> Option<Vec<SharedRecord>> {
        if !search.is_unique() {
            if self.absences.rules_out(search) {
                return Some(Vec::new());
            }
            if search.is_by(Table::Allowance, &["decision"]) {
                return self.allowances_of(search);
            }
            return self.list(search);
        }
        match self.row(search) {
            Some(record) => Some(vec![record]),
            None if MOSTLY_ABSENT.contains(&search.table()) => self.list(search),
            None => None,
        }
    }

    fn row(&self, search: &Search) -> Option<SharedRecord> {
        let key = search.row_key().or_else(|| self.keys.get(search))?;
        self.rows.get(&(search.table(), key)).map(|row| row.record)
    }

    fn list(&self, search: &Search) -> Option<Vec<SharedRecord>> {
        let (version, list) = self.lists.get(search)?;
        (version == self.table_version(search.table())).then(|| list.to_vec())
    }

    pub(crate) fn begin_read(&self) -> ReadMark {
        ReadMark(*self.changes())
    }

    /// Stores the result of a search, unless a row changed since it began.
    pub(crate) fn store(&self, mark: ReadMark, search: Search, found: &[ReadRow]) {
        let absent = search.is_unique() && found.is_empty();
        let (kept, is_list) = match absent {
            true => (MOSTLY_ABSENT.contains(&search.table()), true),
            false => (search.is_unique() || QUIET.contains(&search.table()), !search.is_unique()),
        };
        if !kept {
            return;
        }
        let changes = self.changes();
        if *changes != mark.0 {
            return;
        }
        if is_list {
            let version = self.table_version(search.table());
            self.lists.insert(search, (version, found.iter().map(|row| row.record.clone()).collect()));
        } else if let [row] = found {
            self.insert((search.table(), row.key), row.record.clone(), row.document_bytes, None);
            if search.row_key().is_none() {
                self.keys.insert(search, row.key);
            }
        }
    }

    /// Takes over the changes of a committed group of steps, in their order.
    pub(crate) fn apply(&self, steps: &[&Ready], outcomes: &[Outcome]) {
        let mut changes = self.changes();
        let committed = steps.iter().zip(outcomes).filter(|(_, outcome)| **outcome == Outcome::Committed);
        for (step, _) in committed {
            self.note_allowances(&step.changes);
            *changes += step.changes.len() as u64;
            step.changes.iter().for_each(|change| self.apply_change(change));
        }
    }

    fn apply_change(&self, change: &RowChange) {
        self.absences.add(&change.marks);
        self.forget_lists(change.row.0);
        match &change.record {
            Some(record) => self.insert(change.row, record.clone(), change.document_bytes, change.becomes),
            None => drop(self.rows.remove(&change.row)),
        }
        for search in &change.answers {
            self.keys.insert(search.clone(), change.row.1);
        }
    }

    /// Before the step's changes: a decision that they settle was pending until now.
    fn note_allowances(&self, changes: &[RowChange]) {
        let new = |change: &RowChange| {
            let allowance =
                change.record.as_ref()?.downcast_ref::<Allowance>().filter(|_| change.becomes == Some(1))?;
            Some((allowance.decision, allowance.key))
        };
        changes.iter().filter_map(new).for_each(|(decision, _)| drop(self.allowances.remove(&decision)));
        for settled in changes.iter().filter(|change| self.is_settled_by(change)) {
            let of_it = changes.iter().filter_map(new).filter(|(decision, _)| *decision == settled.row.1);
            let mut keys: Vec<RowKey> = of_it.map(|(_, key)| key).collect();
            keys.sort_unstable();
            self.allowances.insert(settled.row.1, keys.into());
        }
    }

    fn is_settled_by(&self, change: &RowChange) -> bool {
        let is_pending = |record: &SharedRecord| record.downcast_ref::<Decision>().map(Decision::is_pending);
        let before = || self.rows.get(&change.row).and_then(|row| is_pending(&row.record));
        change.record.as_ref().and_then(is_pending) == Some(false) && before() == Some(true)
    }

    fn allowances_of(&self, search: &Search) -> Option<Vec<SharedRecord>> {
        let Some(SqlValue::Int(decision)) = search.values().next() else { return None };
        let keys = self.allowances.get(decision)?;
        keys.iter().map(|key| Some(self.rows.get(&(Table::Allowance, *key))?.record)).collect()
    }

    /// The values of the row that a record will replace, as this process wrote them.
    pub(crate) fn written_before(&self, record: &Record) -> Option<Vec<SqlValue>> {
        let (table, version) = (record.table(), record.version());
        let row = self.rows.get(&(table, record.key()))?;
        row.own_version.filter(|own| own.checked_add(1) == Some(version))?;
        tables::shared_values(table, &row.record)
    }

    /// Forgets the rows that a maintenance job may have removed.
    pub(crate) fn forget_after(&self, job: &MaintenanceJob) {
        match job {
            MaintenanceJob::Sweep { what, .. } => self.clear_table(what.table),
            MaintenanceJob::Remove { .. } => self.clear_rows(),
            _ => {}
        }
    }

    /// Forgets everything, after a change outside of steps.
    pub(crate) fn clear(&self) {
        self.clear_rows();
        self.absences.clear();
    }

    /// Forgets all rows: what there never was, there still is not.
    fn clear_rows(&self) {
        let mut changes = self.changes();
        *changes += 1;
        self.forget_all();
    }

    /// Forgets the rows of a table with this name.
    fn clear_table(&self, name: &str) {
        let mut changes = self.changes();
        *changes += 1;
        for table in Table::ALL.iter().filter(|table| tables::columns_of(**table).name == name) {
            self.rows.retain(|row, _| row.0 != *table);
            self.forget_lists(*table);
        }
    }

    fn insert(&self, row: (Table, RowKey), record: SharedRecord, document_bytes: usize, version: Option<i64>) {
        self.rows.insert(row, CachedRow { record, document_bytes: document_bytes as u64, own_version: version });
    }

    fn forget_lists(&self, table: Table) {
        if let Some(version) = self.table_versions.get(table as usize) {
            version.fetch_add(1, Ordering::AcqRel);
        }
    }

    fn table_version(&self, table: Table) -> u64 {
        self.table_versions.get(table as usize).map_or(0, |version| version.load(Ordering::Acquire))
    }

    fn forget_all(&self) {
        self.rows.clear();
        self.keys.clear();
        self.lists.clear();
        self.allowances.clear();
    }

    fn changes(&self) -> MutexGuard<'_, u64> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
