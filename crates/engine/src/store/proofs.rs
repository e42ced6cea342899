//! Proofs of possession; each counts once.

use super::Outcome;
pub(crate) use countersign_core::step::ProofId;
use countersign_core::step::SpentProof;
use std::collections::HashSet;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredProof {
    pub(crate) id: ProofId,
    pub(crate) issued_at: i64,
}

pub(crate) const SECOND: i64 = 1000;

/// How far ahead of the store's clock a proof's time may be: 300 s, and a margin for clock skew.
pub(crate) const EARLY: i64 = 330 * SECOND;
/// How far behind it: the same, and ten minutes for a slow upstream of a read. A replay is refused by its age long before
/// that.
pub(crate) const LATE: i64 = 930 * SECOND;

impl StoredProof {
    pub(crate) fn of(spent: &SpentProof) -> Self {
        Self { id: spent.id(), issued_at: spent.issued_at.0 }
    }

    /// A proof further from the store's time than any caller accepts may have been forgotten already, or is too early.
    pub(crate) fn check(&self, now: i64, spent: &HashSet<ProofId>) -> Result<(), Outcome> {
        if self.issued_at > now + EARLY || self.issued_at < now - LATE {
            return Err(Outcome::OutOfTime);
        }
        if spent.contains(&self.id) {
            return Err(Outcome::Replayed);
        }
        Ok(())
    }
}
