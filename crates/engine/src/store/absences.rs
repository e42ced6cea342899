//! What the database does not have: a Bloom filter for each look-up that mostly finds nothing, so that finding nothing costs
//! no query.
//!
//! A filter is filled from the database when it is first needed, while the writer already adds to it, so it knows at least
//! every row that there is. Rows that are gone stay in it: then the database is asked.

use super::{
    error::StoreFailure,
    search::Search,
    sql::{Row, Sql, SqlValue},
    tables,
};
use countersign_core::records::{Record, Table};
use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::{
        Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
        atomic::{AtomicU64, Ordering},
    },
};

/// Each question asks for all of these, and so does a held call.
const SELDOM_FOUND: [(Table, [&str; 2]); 6] = [
    (Table::Decision, ["project", "open_same"]),
    (Table::Allowance, ["project", "open_digest"]),
    (Table::Allowance, ["project", "open_holder"]),
    (Table::Execution, ["project", "open_digest"]),
    (Table::Execution, ["project", "done_digest"]),
    (Table::Execution, ["project", "live_effect"]),
];

const LEAST: u64 = 1 << 16;
/// More rows than this are not worth the memory: two bytes each.
const MOST: u64 = 1 << 22;
const BITS_EACH: u64 = 16;
const PROBES: u64 = 4;
/// Rows a query while a filter is filled.
const PAGE: usize = 4096;

#[derive(Default)]
pub(crate) struct Absences([RwLock<Knowledge>; SELDOM_FOUND.len()]);

#[derive(Default)]
enum Knowledge {
    #[default]
    Nothing,
    Filling(Arc<Filter>),
    Whole(Arc<Filter>),
    TooMuch,
}

/// The columns of a row that a filter knows it by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    place: usize,
    hash: u64,
}

impl Mark {
    fn of(place: usize, values: [&SqlValue; 2]) -> Option<Self> {
        if values.contains(&&SqlValue::Null) {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        values.hash(&mut hasher);
        Some(Self { place, hash: hasher.finish() })
    }

    fn of_search(search: &Search) -> Option<Self> {
        let place = SELDOM_FOUND.iter().position(|(table, columns)| search.is_by(*table, columns))?;
        let mut values = search.values();
        Self::of(place, [values.next()?, values.next()?])
    }

    /// All marks of a record, from the values of its columns.
    pub(crate) fn all(record: &Record, values: &[SqlValue]) -> Vec<Self> {
        let columns = tables::columns_of(record.table()).columns;
        let value = |name: &str| columns.iter().position(|column| *column == name).and_then(|n| values.get(n));
        let here = SELDOM_FOUND.iter().enumerate().filter(|(_, (table, _))| *table == record.table());
        here.filter_map(|(place, (_, [first, second]))| Self::of(place, [value(first)?, value(second)?])).collect()
    }
}

impl Absences {
    /// Whether there is certainly no such row.
    pub(crate) fn rules_out(&self, search: &Search) -> bool {
        let Some(mark) = Mark::of_search(search) else { return false };
        self.read(mark.place).is_some_and(|known| match &*known {
            Knowledge::Whole(filter) => !filter.has(mark),
            _ => false,
        })
    }

    /// For the writer, before it answers.
    pub(crate) fn add(&self, marks: &[Mark]) {
        for mark in marks {
            let is_full = self.read(mark.place).is_some_and(|known| match &*known {
                Knowledge::Filling(filter) | Knowledge::Whole(filter) => filter.add(*mark),
                _ => false,
            });
            if is_full {
                self.set(mark.place, Knowledge::Nothing);
            }
        }
    }

    pub(crate) fn clear(&self) {
        (0..SELDOM_FOUND.len()).for_each(|place| self.set(place, Knowledge::Nothing));
    }

    /// The filter of a search about which nothing is known yet.
    pub(crate) fn unknown(&self, search: &Search) -> Option<UnknownRows> {
        let Mark { place, .. } = Mark::of_search(search)?;
        let unknown = matches!(&*self.read(place)?, Knowledge::Nothing);
        unknown.then_some(UnknownRows { place })
    }

    /// From here on the writer adds to the filter. None if somebody else fills it, or if there are too many rows.
    pub(crate) fn begin(&self, rows: UnknownRows, count: i64) -> Option<Filling<'_>> {
        let room = u64::try_from(count).unwrap_or(0).saturating_mul(2).max(LEAST);
        let mut known = self.write(rows.place)?;
        if !matches!(&*known, Knowledge::Nothing) {
            return None;
        }
        if room > MOST {
            *known = Knowledge::TooMuch;
            return None;
        }
        let filter = Arc::new(Filter::for_rows(room));
        *known = Knowledge::Filling(Arc::clone(&filter));
        Some(Filling { absences: self, rows, filter })
    }

    fn read(&self, place: usize) -> Option<RwLockReadGuard<'_, Knowledge>> {
        self.0.get(place).map(|known| known.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn write(&self, place: usize) -> Option<RwLockWriteGuard<'_, Knowledge>> {
        self.0.get(place).map(|known| known.write().unwrap_or_else(PoisonError::into_inner))
    }

    fn set(&self, place: usize, knowledge: Knowledge) {
        if let Some(mut known) = self.write(place) {
            *known = knowledge;
        }
    }
}

/// The rows of a filter that has to be filled.
#[derive(Clone, Copy)]
pub(crate) struct UnknownRows {
    place: usize,
}

impl UnknownRows {
    fn names(self) -> (&'static str, &'static str, &'static str) {
        let (table, [first, second]) = SELDOM_FOUND.get(self.place).copied().unwrap_or(SELDOM_FOUND[0]);
        (tables::columns_of(table).name, first, second)
    }

    pub(crate) async fn count<S: Sql>(self, sql: &mut S) -> Result<i64, StoreFailure> {
        let (table, _, column) = self.names();
        let rows = sql.query(&format!("SELECT count(*) FROM {table} WHERE {column} IS NOT NULL"), &[]).await?;
        rows.first().map_or(Ok(0), |row| row.int(0))
    }

    /// In pages by their index. A row that is written meanwhile is added by the writer.
    pub(crate) async fn add_all<S: Sql>(self, sql: &mut S, filter: &Filter) -> Result<(), StoreFailure> {
        let (table, first, second) = self.names();
        let text = |after: &str| {
            format!(
                "SELECT {first}, {second} FROM {table} WHERE {second} IS NOT NULL{after} ORDER BY {first}, {second} \
                 LIMIT {PAGE}"
            )
        };
        let mut rows = sql.query(&text(""), &[]).await?;
        loop {
            for mark in rows.iter().filter_map(|row| self.mark(row)) {
                let _is_full = filter.add(mark);
            }
            let Some(Row(last)) = rows.pop().filter(|_| rows.len() + 1 == PAGE) else { return Ok(()) };
            rows = sql.query(&text(&format!(" AND ({first}, {second}) > ($1, $2)")), &last).await?;
        }
    }

    fn mark(self, row: &Row) -> Option<Mark> {
        Mark::of(self.place, [row.0.first()?, row.0.get(1)?])
    }
}

/// A filter that is being filled. Dropped before its end, it is given up.
pub(crate) struct Filling<'a> {
    absences: &'a Absences,
    rows: UnknownRows,
    filter: Arc<Filter>,
}

impl Filling<'_> {
    pub(crate) fn filter(&self) -> Arc<Filter> {
        Arc::clone(&self.filter)
    }

    /// Every row is in it.
    pub(crate) fn finish(self) {
        self.replace(Knowledge::Whole(Arc::clone(&self.filter)));
    }

    /// Unless it was given up meanwhile.
    fn replace(&self, with: Knowledge) {
        let Some(mut known) = self.absences.write(self.rows.place) else { return };
        if matches!(&*known, Knowledge::Filling(filter) if Arc::ptr_eq(filter, &self.filter)) {
            *known = with;
        }
    }
}

impl Drop for Filling<'_> {
    fn drop(&mut self) {
        self.replace(Knowledge::Nothing);
    }
}

pub(crate) struct Filter {
    words: Box<[AtomicU64]>,
    room: AtomicU64,
}

impl Filter {
    fn for_rows(rows: u64) -> Self {
        let words = (0..rows * BITS_EACH / 64).map(|_| AtomicU64::default()).collect();
        Self { words, room: AtomicU64::new(rows) }
    }

    /// Returns whether it is full, and has to be made anew.
    fn add(&self, mark: Mark) -> bool {
        for (word, bit) in self.probes(mark) {
            word.fetch_or(bit, Ordering::AcqRel);
        }
        let one_less = |room: u64| room.checked_sub(1);
        self.room.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_less).is_err()
    }

    fn has(&self, mark: Mark) -> bool {
        self.probes(mark).all(|(word, bit)| word.load(Ordering::Acquire) & bit != 0)
    }

    fn probes(&self, mark: Mark) -> impl Iterator<Item = (&AtomicU64, u64)> {
        let (bits, step) = (self.words.len() as u64 * 64, mark.hash.rotate_left(32) | 1);
        (0..PROBES).filter_map(move |n| {
            let bit = mark.hash.wrapping_add(n.wrapping_mul(step)) % bits;
            Some((self.words.get(usize::try_from(bit / 64).ok()?)?, 1 << (bit % 64)))
        })
    }
}

#[cfg(test)]
mod tests;
