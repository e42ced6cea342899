//! The rounds of a rollback: older writes than it lists are undone after the newer ones.

use super::{MAX_S, MAX_STEPS, RollbackView, lists};
use crate::{
    env::Env,
    records::{Record, ReversibleWrite, Rollback, RollbackPhase, SessionStep, StepState, Table},
    refusal::Refusal,
    step::{Effects, Step},
};
use countersign_protocol::{
    aap::revoke::{RollbackCounts, RollbackReport},
    ids::RowKey,
    time::UnixMillis,
};

impl RollbackView {
    /// Every step of the round has ended: continues with older ones, or finishes.
    pub(super) fn end_round<A: Default>(
        &self,
        mut row: Rollback,
        due: UnixMillis,
        env: &Env,
    ) -> Result<Step<A>, Refusal> {
        let mut effects = Effects { not_before: Some(due), ..Effects::default() };
        let older: Vec<SessionStep> = row.steps.drain(..row.round.min(row.steps.len())).collect();
        row.round = 0;
        if !older.is_empty() {
            let report = lists(&older);
            row.count(&older);
            effects.evidence.push(self.entry("rollback_continued", &report, env.now).seal(&mut env.mint())?);
        }
        if row.left > 0 && env.now < row.closed_at.plus_secs(MAX_S) {
            row.phase = RollbackPhase::Collecting { due: env.now };
            effects.puts.push(Record::Rollback(row));
            return Ok(Step { answer: A::default(), effects });
        }
        // What no round reached remains.
        row.unlisted.done += std::mem::take(&mut row.left);
        self.finish(row, effects, env)
    }
}

impl Rollback {
    /// The next older writes that wait, from the rows that were kept for them.
    pub(super) fn next_round(&mut self, mut kept: Vec<ReversibleWrite>, now: UnixMillis) -> Vec<(Table, RowKey)> {
        kept.sort_by_key(|write| (write.started_at, write.key));
        // A row that is gone was not undone.
        self.unlisted.done += self.left.saturating_sub(kept.len());
        let taken = kept.split_off(kept.len().saturating_sub(MAX_STEPS));
        (self.left, self.round) = (kept.len(), taken.len());
        let removes = taken.iter().map(|write| (Table::ReversibleWrite, write.key)).collect();
        self.steps = taken.into_iter().map(waiting).chain(std::mem::take(&mut self.steps)).collect();
        self.phase = RollbackPhase::Undoing { due: now };
        removes
    }

    /// Adds steps that are not listed.
    pub(super) fn count(&mut self, steps: &[SessionStep]) {
        let RollbackReport { undone, done, not_done, unknown, .. } = lists(steps);
        let counts = &mut self.unlisted;
        *counts = RollbackCounts {
            undone: counts.undone + undone.len(),
            done: counts.done + done.len(),
            not_done: counts.not_done + not_done.len(),
            unknown: counts.unknown + unknown.len(),
        };
        self.unlisted_reversible |= steps.iter().any(|step| step.reversible);
    }
}

fn waiting(write: ReversibleWrite) -> SessionStep {
    SessionStep {
        call_id: Some(write.call_id),
        decision_id: None,
        action: Some(write.action),
        state: StepState::Waiting,
        cancel: Some(write.cancel),
        reversible: true,
    }
}
