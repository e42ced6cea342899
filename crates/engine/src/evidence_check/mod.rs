//! The check of the evidence: every leaf, its place, its openings, and the rows that say the same.
//!
//! It needs no lock and stops nothing: it covers what there was when it began. What it cannot see is a log that was rewritten
//! as a whole, with all its hashes; signed checkpoints outside the database show that.

mod leaves;
mod rows;
mod state;

pub use state::{EvidenceCheck, EvidenceFault};

use crate::{evidence_health::CheckResult, services::Evidence, store::EvidenceCheckKind};
use countersign_core::refusal::Refusal;

/// Entries of one step.
const STEP: i64 = 4096;
/// Entries of one step of maintenance, which comes every few seconds.
const SAMPLE: i64 = 512;
/// How long maintenance rests after it checked everything.
const REST_S: i64 = 3600;
/// Steps of one request, so that each is answered soon.
const STEPS: usize = 16;

impl Evidence<'_> {
    /// Goes on with the check that was begun, or begins one; returns how far it came.
    pub async fn check(self, from_start: bool) -> Result<EvidenceCheck, Refusal> {
        self.advance(EvidenceCheckKind::Command, from_start, STEPS).await
    }

    /// A step of the check that maintenance makes over and over.
    pub(crate) async fn sample(self) -> Result<(), Refusal> {
        let again_at = |last: CheckResult| last.at.plus_secs(REST_S);
        if self.evidence_health.last_check().map(again_at).is_some_and(|again| self.now() < again) {
            return Ok(());
        }
        let check = self.advance(EvidenceCheckKind::Maintenance, false, 1).await?;
        if check.is_finished() {
            self.evidence_health.finish(&check);
        }
        Ok(())
    }

    async fn advance(self, kind: EvidenceCheckKind, from_start: bool, steps: usize) -> Result<EvidenceCheck, Refusal> {
        let kept = if from_start { None } else { self.store.evidence_check(kind).await? };
        let begun: Option<EvidenceCheck> = kept.and_then(|state| serde_json::from_str(&state).ok());
        let mut check = match begun.filter(|check| !check.is_finished()) {
            Some(check) => check,
            None => EvidenceCheck::of(self.store.lane_ends().await?, self.now()),
        };
        let entries = if kind == EvidenceCheckKind::Command { STEP } else { SAMPLE };
        for _ in 0..steps {
            self.step(&mut check, entries).await?;
            if check.is_finished() {
                break;
            }
        }
        let state = serde_json::to_string(&check).map_err(|_| Refusal::Internal)?;
        self.store.keep_evidence_check(kind, state).await?;
        if check.is_finished() && kind == EvidenceCheckKind::Command {
            self.evidence_health.finish(&check);
        }
        Ok(check)
    }

    async fn step(self, check: &mut EvidenceCheck, entries: i64) -> Result<(), Refusal> {
        match check.next_lane() {
            Some(at) => self.walk(check, at, entries).await,
            None => self.compare_decisions(check).await,
        }
    }
}
