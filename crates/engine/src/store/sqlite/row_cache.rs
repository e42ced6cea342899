//! The writer's cache of rows. As a rule it alone writes to the file, so a row that it read or wrote stays true until
//! another process writes, which changes SQLite's `data_version`.

use crate::store::batch::{Gains, Head, Tally};
use countersign_core::records::Table;
use countersign_protocol::ids::RowKey;
use std::collections::HashMap;

/// More than these are not worth their memory.
const MOST_VERSIONS: usize = 262_144;
const MOST_COUNTS: usize = 65_536;

#[derive(Default)]
pub(super) struct RowCache {
    /// SQLite's `data_version` when all of this was read.
    as_of: Option<i64>,
    versions: HashMap<(Table, RowKey), i64>,
    counts: HashMap<String, Tally>,
    heads: HashMap<RowKey, Head>,
    lane: Option<(i64, i64)>,
}

impl RowCache {
    /// Drops everything if another process has written since, and returns whether one has.
    pub(super) fn clear_if_changed(&mut self, data_version: i64) -> bool {
        let changed = self.as_of != Some(data_version);
        if changed {
            *self = Self { as_of: Some(data_version), ..Self::default() };
        }
        changed
    }

    /// For writes outside of steps.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) fn version(&self, row: (Table, RowKey)) -> Option<i64> {
        self.versions.get(&row).copied()
    }

    pub(super) fn insert_version(&mut self, row: (Table, RowKey), version: i64) {
        if self.versions.len() >= MOST_VERSIONS {
            self.versions.clear();
        }
        self.versions.insert(row, version);
    }

    /// A row that is about to change, perhaps in vain.
    pub(super) fn invalidate(&mut self, row: (Table, RowKey)) {
        self.versions.remove(&row);
    }

    pub(super) fn tally(&self, key: &str) -> Option<Tally> {
        self.counts.get(key).copied()
    }

    pub(super) fn head(&self, project: RowKey) -> Option<Head> {
        self.heads.get(&project).copied()
    }

    /// The next position, and the number of commits.
    pub(super) fn lane(&self) -> Option<(i64, i64)> {
        self.lane
    }

    pub(super) fn insert_tally(&mut self, key: &str, tally: Tally) {
        if self.counts.len() >= MOST_COUNTS {
            self.counts.clear();
        }
        self.counts.insert(key.to_owned(), tally);
    }

    /// The gains of a durable batch.
    pub(super) fn store_gains(&mut self, gains: &Gains<'_>) {
        if self.counts.len() >= MOST_COUNTS {
            self.counts.clear();
        }
        self.counts.extend(gains.counts.iter().map(|(key, tally)| ((*key).to_owned(), *tally)));
        self.heads.extend(gains.heads.iter().map(|(project, head)| (*project, *head)));
        self.lane = Some((gains.next_pos, gains.commits));
    }
}
