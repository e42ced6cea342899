//! Egress of a session: bytes of responses, counted against its receipt (AAP 14.2).

use crate::{services::Calls, store::Outcome};
use countersign_core::{
    aap::access::{CallFacts, Usage},
    step::Effects,
};

/// Bytes are counted in blocks of this size, so that a long response does not need a step for each chunk.
const BLOCK: u64 = 64 * 1024;

/// The meter of a response of unknown length.
pub struct Egress {
    usage: Usage,
    writes: bool,
    /// Counted and not passed on yet.
    taken: u64,
    over: bool,
}

impl Egress {
    pub(super) fn of(facts: &CallFacts) -> Option<Self> {
        let usage = facts.usage().clone();
        usage.egress_limit()?;
        Some(Self { usage, writes: facts.writes(), taken: 0, over: false })
    }
}

impl Calls<'_> {
    /// How many of `bytes` more may leave. A smaller number means: cut here. A write's response is counted and never cut.
    pub async fn allow_bytes(self, egress: &mut Egress, bytes: u64) -> u64 {
        while egress.taken < bytes && !egress.over {
            let missing = (bytes - egress.taken).max(if egress.writes { 0 } else { BLOCK });
            match self.reserve(egress, missing).await {
                EgressUse::All => egress.taken += missing,
                EgressUse::Only(rest) => {
                    egress.taken += rest;
                    egress.over = true;
                }
            }
        }
        let passed = egress.taken.min(bytes);
        egress.taken -= passed;
        if egress.writes { bytes } else { passed }
    }

    /// Gives back bytes that were counted and not sent.
    pub async fn give_back_unused(self, egress: Egress) {
        if egress.taken > 0 {
            let back = egress.usage.egress(-i64::try_from(egress.taken).unwrap_or(i64::MAX), true);
            let _ = self.commit(Effects { counts: back.to_vec(), ..Effects::default() }).await;
            self.limit_cache.forget(back.iter());
        }
    }

    async fn reserve(self, egress: &Egress, bytes: u64) -> EgressUse {
        let wanted = i64::try_from(bytes).unwrap_or(i64::MAX);
        if self.count_egress(egress, wanted).await {
            return EgressUse::All;
        }
        // The remainder: concurrent responses can only make it smaller.
        for _ in 0..3 {
            let stands = self.store.count(&egress.usage.egress_key()).await;
            let (Ok(stands), Some(limit)) = (stands, egress.usage.egress_limit()) else { break };
            let rest = (limit - stands).clamp(0, wanted);
            if rest == 0 || self.count_egress(egress, rest).await {
                return EgressUse::Only(rest.unsigned_abs());
            }
        }
        EgressUse::Only(0)
    }

    async fn count_egress(self, egress: &Egress, bytes: i64) -> bool {
        let counted = egress.usage.egress(bytes, egress.writes);
        let outcome = self.commit(Effects { counts: counted.to_vec(), ..Effects::default() }).await;
        self.limit_cache.forget(counted.iter());
        outcome == Outcome::Committed
    }
}

enum EgressUse {
    All,
    Only(u64),
}
