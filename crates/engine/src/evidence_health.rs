//! Entries that do not fit what was written, as this node met them.

use crate::{evidence_check::EvidenceCheck, store::AuditRow};
use countersign_core::evidence::StoredLeaf;
use countersign_protocol::{aap::audit::AuditEntry, evidence::Misfit, time::UnixMillis};
use serde_json::{Map, Value};
use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// The number of remembered positions: each is counted once, however often it is read.
const REMEMBERED: usize = 1000;

/// The misfits since the start of this node. A misfit is an alarm, and takes nothing out of service: whoever can write to the
/// database must not be able to stop its nodes with one row.
#[derive(Default)]
pub(crate) struct EvidenceHealth {
    met: Mutex<BTreeMap<(i64, i64), Misfit>>,
    last_check: Mutex<Option<CheckResult>>,
}

/// The last check of the whole log that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    pub at: UnixMillis,
    pub entries: u64,
    pub faults: u64,
    first: Option<String>,
}

impl EvidenceHealth {
    /// The members of a row, and how it was altered: without the hidden ones if its openings do not fit, and none if the leaf
    /// does not.
    pub(crate) fn opened(&self, row: &AuditRow) -> (Map<String, Value>, Option<Misfit>) {
        let stored = row.stored();
        match stored.members() {
            Ok(members) => (members, None),
            Err(misfit) => {
                self.report(row, misfit.clone());
                (stored.open_members().unwrap_or_default(), Some(misfit))
            }
        }
    }

    /// The members of a row, if its leaf fits.
    pub(crate) fn members(&self, row: &AuditRow) -> Option<Map<String, Value>> {
        let (members, _) = self.opened(row);
        (!members.is_empty()).then_some(members)
    }

    /// The row for its readers, with a mark where it does not fit.
    pub(crate) fn entry(&self, row: &AuditRow) -> AuditEntry {
        let (entry, misfit) = row.stored().entry((row.place.lane, row.place.seq));
        if let Some(misfit) = misfit {
            self.report(row, misfit);
        }
        entry
    }

    fn report(&self, row: &AuditRow, misfit: Misfit) {
        let mut met = self.met();
        let position = (row.place.lane, row.pos);
        if met.len() < REMEMBERED && !met.contains_key(&position) {
            let (lane, pos) = position;
            tracing::error!(lane, pos, why = %misfit, "an evidence entry was altered");
            met.insert(position, misfit);
        }
    }

    /// How many entries did not fit.
    pub(crate) fn count(&self) -> usize {
        self.met().len()
    }

    /// The first one in words.
    pub(crate) fn line(&self) -> Option<String> {
        let met = self.met();
        let ((lane, pos), misfit) = met.first_key_value()?;
        Some(format!("evidence: {} altered entries were read, at lane {lane}, position {pos}: {misfit}", met.len()))
    }

    pub(crate) fn finish(&self, check: &EvidenceCheck) {
        let first = check.faults.first().map(|fault| fault.what.clone());
        if let Some(what) = &first {
            tracing::error!(faults = check.fault_count, what, "the evidence does not hold");
        }
        let at = check.finished_at.unwrap_or(check.started_at);
        let result = CheckResult { at, entries: check.checked, faults: check.fault_count, first };
        *self.last_check.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    }

    pub(crate) fn last_check(&self) -> Option<CheckResult> {
        self.last_check.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn met(&self) -> MutexGuard<'_, BTreeMap<(i64, i64), Misfit>> {
        self.met.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CheckResult {
    /// The result in words.
    pub(crate) fn line(&self) -> String {
        let (entries, at) = (self.entries, self.at.to_rfc3339());
        match &self.first {
            None => format!("evidence: {entries} entries checked at {at}, all in order"),
            Some(first) => {
                format!("evidence: {} faults found at {at}, first: {first}; run `countersign audit check`", self.faults)
            }
        }
    }
}

impl AuditRow {
    pub(crate) fn stored(&self) -> StoredLeaf<'_> {
        StoredLeaf {
            leaf: &self.leaf,
            hash: &self.hash,
            openings: self.openings.as_deref(),
            at: self.place.at,
            event_type: &self.event_type,
        }
    }
}
