//! How far a check of the evidence has come, and what it found. It is kept between its steps, so a check goes on where it was
//! interrupted.

use crate::store::LaneEnd;
use countersign_protocol::{hash::Digest, ids::RowKey, time::UnixMillis};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Faults that are listed; more are only counted.
const LISTED: usize = 100;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceCheck {
    pub started_at: UnixMillis,
    pub finished_at: Option<UnixMillis>,
    /// Entries that were checked, of all.
    pub checked: u64,
    pub total: u64,
    pub faults: Vec<EvidenceFault>,
    pub fault_count: u64,
    pub(super) lanes: Vec<LaneWalk>,
    /// The decisions with a greater key were compared; none before the log is through.
    pub(super) decisions_from: Option<RowKey>,
    /// Entries that say that a decision was settled, and settled decisions.
    pub(super) settled: SettledTally,
    pub(super) decisions: SettledTally,
    /// By project: openings that should be there and are not, and those that a recorded erasure accounts for.
    pub(super) missing: BTreeMap<RowKey, u64>,
    pub(super) erased: BTreeMap<RowKey, u64>,
}

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceFault {
    pub lane: Option<i64>,
    pub pos: Option<i64>,
    pub what: String,
}

/// A lane, and the heads that its entries were found to have so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LaneWalk {
    pub(super) lane: i64,
    pub(super) pos: i64,
    pub(super) last: i64,
    pub(super) indexed: i64,
    /// A sequence and a running hash by project: as computed, and as the log says at its end.
    pub(super) heads: BTreeMap<RowKey, (i64, Digest)>,
    pub(super) ends: BTreeMap<RowKey, (i64, Digest)>,
}

/// A number of things, and a sum that no other things are likely to have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SettledTally {
    pub(super) count: u64,
    pub(super) sum: u64,
}

impl SettledTally {
    pub(super) fn add(&mut self, id: &str, state: &str) {
        let Digest(bytes) = Digest::of_parts(&[id.as_bytes(), b"\0", state.as_bytes()]);
        let first = bytes.first_chunk::<8>().copied().map_or(0, u64::from_be_bytes);
        (self.count, self.sum) = (self.count + 1, self.sum.wrapping_add(first));
    }
}

impl EvidenceCheck {
    pub(super) fn of(ends: Vec<LaneEnd>, started_at: UnixMillis) -> Self {
        let mut check = Self { started_at, ..Self::default() };
        for end in ends {
            check.total += u64::try_from(end.last).unwrap_or(0);
            if end.overgrown {
                check.fault(Some(end.lane), Some(end.last), "there are entries after the end of the lane");
            }
            let LaneEnd { lane, last, indexed, heads, .. } = end;
            check.lanes.push(LaneWalk { lane, pos: 0, last, indexed, heads: BTreeMap::new(), ends: heads });
        }
        check
    }

    /// Decisions settled after this are not added up: their entries may have come after the check began.
    pub(super) fn tallied_until(&self) -> UnixMillis {
        self.started_at.plus_secs(-60)
    }

    pub fn is_finished(&self) -> bool {
        self.finished_at.is_some()
    }

    pub(super) fn fault(&mut self, lane: Option<i64>, pos: Option<i64>, what: impl Into<String>) {
        self.fault_count += 1;
        if self.faults.len() < LISTED {
            self.faults.push(EvidenceFault { lane, pos, what: what.into() });
        }
    }
}
