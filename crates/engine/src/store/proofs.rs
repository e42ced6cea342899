//! Proofs of possession, each of which counts once.

use super::Outcome;
use countersign_core::step::SpentProof;
use countersign_protocol::hash::Digest;
use std::collections::HashSet;

/// What a proof is known by: a digest of its project, key and `jti`.
pub(crate) type ProofId = [u8; 16];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proof {
    pub(crate) id: ProofId,
    pub(crate) issued_at: i64,
}

pub(crate) const SECOND: i64 = 1000;

/// How far a proof's time may be from the store's clock: 300 s, and some for what clocks differ by and steps wait.
pub(crate) const TOLERANCE: i64 = 330 * SECOND;

impl Proof {
    pub(crate) fn of(spent: &SpentProof) -> Self {
        let SpentProof { project, jkt, jti, issued_at } = spent;
        let Digest(whole) = Digest::of_parts(&[&project.to_be_bytes(), &jkt.0, jti.as_bytes()]);
        let [id, _] = halves(whole);
        Self { id, issued_at: issued_at.0 }
    }

    /// What is further from our time than any caller accepts may have been forgotten already, or would be too early.
    pub(crate) fn judge(&self, now: i64, spent: &HashSet<ProofId>) -> Result<(), Outcome> {
        if self.issued_at.abs_diff(now) > TOLERANCE.unsigned_abs() {
            return Err(Outcome::OutOfTime);
        }
        if spent.contains(&self.id) {
            return Err(Outcome::Replayed);
        }
        Ok(())
    }
}

fn halves(whole: [u8; 32]) -> [ProofId; 2] {
    let mut halves = [ProofId::default(); 2];
    halves.as_flattened_mut().copy_from_slice(&whole);
    halves
}
