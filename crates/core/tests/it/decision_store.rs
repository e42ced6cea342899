//! An in-memory store that accepts steps exactly like the real one: versions, time, limits, unique columns.

use countersign_core::{
    records::{AaepSession, Allowance, Decision, Execution, Plan, Record, Table},
    signals::{AaepSignal, Signal},
    step::{Effects, EvidenceDraft},
};
use countersign_protocol::{hash::Digest, ids::RowKey, time::UnixMillis};
use std::{collections::BTreeMap, sync::Arc};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Committed,
    Stale,
    OutOfTime,
    LimitReached(usize),
}

#[derive(Clone, Default)]
pub(crate) struct Store {
    /// The authoritative clock.
    pub(crate) now: UnixMillis,
    rows: BTreeMap<(Table, RowKey), Arc<Record>>,
    /// Memberships and delegations, for guards: only their versions matter.
    pub(crate) standing: BTreeMap<(Table, RowKey), i64>,
    counts: BTreeMap<String, (i64, UnixMillis)>,
    pub(crate) said: Vec<Arc<AaepSignal>>,
    pub(crate) evidence: Vec<Arc<EvidenceDraft>>,
}

impl Store {
    pub(crate) fn at(now: UnixMillis) -> Self {
        Self { now, ..Self::default() }
    }

    /// Checks in the order of the real store: stale, out of time, limits; unique columns when rows are written.
    pub(crate) fn commit(&mut self, effects: &Effects) -> Outcome {
        let kept = |row: &(Table, RowKey)| row.0 == Table::HeldRequest;
        assert!(effects.once.is_empty(), "no decision spends keys");
        assert!(effects.removes.iter().all(kept), "a decision removes nothing but what was kept for it");
        let current = effects.guards.iter().all(|guard| self.version(guard.table, guard.key) == Some(guard.version));
        if !current || !self.fits(&effects.puts) {
            return Outcome::Stale;
        }
        let early = effects.not_before.is_some_and(|from| self.now < from);
        if early || effects.before.is_some_and(|end| self.now >= end) {
            return Outcome::OutOfTime;
        }
        let counts = match self.counted(effects) {
            Ok(counts) => counts,
            Err(index) => return Outcome::LimitReached(index),
        };
        let before = self.rows.clone();
        for record in &effects.puts {
            self.rows.insert((record.table(), record.key()), Arc::new(record.clone()));
        }
        if !self.unique_columns_hold() {
            self.rows = before;
            return Outcome::Stale;
        }
        self.counts = counts;
        self.evidence.extend(effects.evidence.iter().cloned().map(Arc::new));
        self.said.extend(effects.news.iter().filter_map(said));
        Outcome::Committed
    }

    /// A row of version 1 must not exist; a row of version n + 1 must be at n, also within one step.
    fn fits(&self, puts: &[Record]) -> bool {
        let mut versions = BTreeMap::new();
        puts.iter().all(|put| {
            let row = (put.table(), put.key());
            let known = versions.get(&row).copied().or_else(|| self.version(row.0, row.1));
            versions.insert(row, put.version());
            known == (put.version() > 1).then(|| put.version() - 1)
        })
    }

    fn counted(&self, effects: &Effects) -> Result<BTreeMap<String, (i64, UnixMillis)>, usize> {
        let mut counts = self.counts.clone();
        for (index, count) in effects.counts.iter().enumerate() {
            let known = counts.get(&count.key).copied().filter(|(_, until)| *until >= self.now);
            let value = known.map_or(0, |(value, _)| value) + count.by;
            if count.by >= 0 && value > count.limit {
                return Err(index);
            }
            if count.by != 0 {
                let until = known.map_or(count.until, |(_, until)| until.max(count.until));
                counts.insert(count.key.clone(), (value.max(0), until));
            }
        }
        Ok(counts)
    }

    /// The unique indices: one pending question per fingerprint, one running execution per digest. The real store
    /// allows several allowances per decision; here it is one, or one per plan step.
    fn unique_columns_hold(&self) -> bool {
        let same = self.decisions().filter(|d| d.is_pending()).map(|d| d.same);
        let digests = self.executions().filter(|e| e.is_under_way()).map(|e| e.digest);
        let allowed = self.allowances().map(|a| (a.decision, a.step.as_ref().map(|of| of.step.clone())));
        let replies = self.decisions().map(|d| d.reply_hash);
        let decisions = all_different(same) && all_different(digests) && all_different(allowed);
        decisions && all_different(replies) && self.chains_have_no_forks()
    }

    /// Session ids are unique, and so is each position of a chain.
    fn chains_have_no_forks(&self) -> bool {
        let ids = self.rows().filter_map(|record| match record {
            Record::ClarificationSession(row) => Some(row.id.as_str()),
            _ => None,
        });
        let places = self.rows().filter_map(|record| match record {
            Record::ClarificationEntry(row) => Some((row.session, row.position)),
            _ => None,
        });
        all_different(ids) && all_different(places)
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = &Record> {
        self.rows.values().map(|record| &**record)
    }

    pub(crate) fn version(&self, table: Table, key: RowKey) -> Option<i64> {
        let row = self.rows.get(&(table, key)).map(|record| record.version());
        row.or_else(|| self.standing.get(&(table, key)).copied())
    }

    /// The current value of a counter.
    pub(crate) fn count(&self, key: &str) -> i64 {
        self.counts.get(key).filter(|(_, until)| *until >= self.now).map_or(0, |(value, _)| *value)
    }

    pub(crate) fn allowance_of(&self, decision: RowKey) -> Option<&Allowance> {
        self.allowances().find(|row| row.decision == decision)
    }

    pub(crate) fn execution_of(&self, decision: RowKey) -> Option<&Execution> {
        self.executions().find(|row| row.decision == decision)
    }

    pub(crate) fn pending_same(&self, same: Digest) -> Option<&Decision> {
        self.decisions().find(|row| row.is_pending() && row.same == same)
    }

    pub(crate) fn under_way(&self, digest: Digest) -> Option<&Execution> {
        self.executions().find(|row| row.is_under_way() && row.digest == digest)
    }
}

/// Every row of a kind, and the one with a key.
macro_rules! rows {
    ($($all:ident, $one:ident: $Row:ident;)*) => {
        impl Store {
            $(pub(crate) fn $all(&self) -> impl Iterator<Item = &$Row> {
                self.rows().filter_map(|record| match record {
                    Record::$Row(row) => Some(row),
                    _ => None,
                })
            }

            pub(crate) fn $one(&self, key: RowKey) -> &$Row {
                self.$all().find(|row| row.key == key).expect(stringify!($one))
            })*
        }
    };
}

rows! {
    decisions, decision: Decision;
    allowances, allowance: Allowance;
    executions, execution: Execution;
    sessions, session: AaepSession;
    plans, plan: Plan;
}

fn said(news: &Signal) -> Option<Arc<AaepSignal>> {
    match news {
        Signal::Said(said) => Some(Arc::new((**said).clone())),
        _ => None,
    }
}

fn all_different<T: Ord>(values: impl Iterator<Item = T>) -> bool {
    let mut seen = std::collections::BTreeSet::new();
    values.into_iter().all(|value| seen.insert(value))
}
