//! The steps of a cancelled session, from the rows and the evidence of its calls.

use super::{MAX_STEPS, RollbackView};
use crate::{
    env::Env,
    records::{
        Decision, Execution, ExecutionState, Record, ReversibleState, ReversibleWrite, Rollback, RollbackPhase,
        SessionStep, StepState, Table, UnsettledWrite, WriteState,
    },
    refusal::Refusal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::{ids::RowKey, time::UnixMillis};
use std::collections::{HashMap, HashSet};

/// How long a rollback waits for the outcome of writes that were under way when the session ended.
const OUTCOMES_S: i64 = 10;
const LOOK_AGAIN_S: i64 = 1;

const NO_OUTCOME: &str = "its outcome is not known";
const NOT_OBSERVED: &str = "its effect was not observed";
const NO_PATH: &str = "the call or its response lacks what the cancel endpoint needs";

/// An audit entry about a write without approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallOutcome {
    pub at: UnixMillis,
    pub call_id: Option<String>,
    pub action: Option<String>,
    /// None: not known.
    pub took_effect: Option<bool>,
}

/// Everything known about a session's writes.
#[derive(Clone, Debug, Default)]
pub struct SessionSteps {
    /// Approved calls, with their decisions.
    pub executions: Vec<(Execution, Decision)>,
    pub calls: Vec<CallOutcome>,
    /// Of the session: in flight, unknown, or settled by a person.
    pub unsettled: Vec<UnsettledWrite>,
    pub reversible: Vec<ReversibleWrite>,
    /// Whether there are more calls than were read.
    pub more: bool,
}

/// Collects the steps of a due rollback.
pub struct RollbackCollect {
    pub found: SessionSteps,
}

impl Operation for RollbackCollect {
    type View = RollbackView;
    type Answer = ();
    type Refusal = Refusal;

    fn decide(self, view: &RollbackView, env: &Env) -> Result<Step<()>, Refusal> {
        let row = &view.rollback;
        let RollbackPhase::Collecting { due } = row.phase else { return Ok(Step::answer(())) };
        if env.now < due {
            return Ok(Step::answer(()));
        }
        let mut next = Rollback { version: row.version + 1, ..row.clone() };
        let mut effects = Effects { not_before: Some(due), ..Effects::default() };
        if row.left > 0 {
            effects.removes = next.next_round(self.found.reversible, env.now);
        } else if self.found.is_under_way() && env.now < row.closed_at.plus_secs(OUTCOMES_S) {
            next.phase = RollbackPhase::Collecting { due: env.now.plus_secs(LOOK_AGAIN_S) };
        } else {
            effects.removes = next.first_round(&self.found, env.now);
        }
        effects.puts = vec![Record::Rollback(next)];
        Ok(Step { answer: (), effects })
    }
}

impl Rollback {
    /// The newest steps are listed and undone first. Of the older ones those that can be undone keep their rows for later
    /// rounds, and the others are counted.
    fn first_round(&mut self, found: &SessionSteps, now: UnixMillis) -> Vec<(Table, RowKey)> {
        let mut older = found.steps();
        let newest = older.split_off(older.len().saturating_sub(MAX_STEPS));
        let (left, ended): (Vec<_>, Vec<_>) = older.into_iter().partition(|step| step.state == StepState::Waiting);
        self.count(&ended);
        (self.left, self.more) = (left.len(), found.more);
        self.unlisted_reversible |= !left.is_empty();
        self.steps = [newest, std::mem::take(&mut self.steps)].concat();
        self.phase = RollbackPhase::Undoing { due: now };
        let kept: HashSet<&str> = left.iter().filter_map(|step| step.call_id.as_deref()).collect();
        let taken = found.reversible.iter().filter(|write| !kept.contains(write.call_id.as_str()));
        taken.map(|write| (Table::ReversibleWrite, write.key)).collect()
    }
}

impl SessionSteps {
    /// Whether the outcome of a write may still come.
    fn is_under_way(&self) -> bool {
        self.executions.iter().any(|(execution, _)| execution.lease_until().is_some())
            || self.unsettled.iter().any(|write| write.state == WriteState::InFlight)
            || self.reversible.iter().any(|write| write.state == ReversibleState::InFlight)
    }

    /// All steps, oldest first.
    fn steps(&self) -> Vec<SessionStep> {
        let mut reversible: HashMap<&str, &ReversibleWrite> =
            self.reversible.iter().map(|write| (write.call_id.as_str(), write)).collect();
        let mut steps: Vec<((UnixMillis, RowKey), SessionStep)> = Vec::new();
        // By their beginning; rows of the same moment have keys in their order.
        let begun = |at: UnixMillis, key: RowKey, undo: Option<&ReversibleWrite>| {
            undo.map_or((at, key), |write| (write.started_at, write.key))
        };
        for (execution, decision) in &self.executions {
            let undo = reversible.remove(execution.call_id.as_str());
            let Some(state) = state_of_execution(execution, undo) else { continue };
            let (call_id, decision_id) = (undo.map(|write| write.call_id.clone()), Some(decision.id.clone()));
            let step = step(call_id, decision_id, action_of(decision, Some(execution)), state, undo);
            steps.push((begun(execution.claimed_at, execution.key, undo), step));
        }
        for call in &self.calls {
            let undo = call.call_id.as_deref().and_then(|id| reversible.remove(id));
            let took_effect = call.took_effect.or_else(|| self.found_out(call.call_id.as_deref()?));
            let Some(state) = state_of(took_effect, undo) else { continue };
            let step = step(call.call_id.clone(), None, call.action.clone(), state, undo);
            steps.push((begun(call.at, RowKey::MAX, undo), step));
        }
        let told: HashSet<&str> = self.calls.iter().filter_map(|call| call.call_id.as_deref()).collect();
        for write in self.unsettled.iter().filter(|write| !told.contains(write.call_id.as_str())) {
            let undo = reversible.remove(write.call_id.as_str());
            let Some(state) = state_of(self.found_out(&write.call_id), undo) else { continue };
            let action = Some(write.action.clone());
            let step = step(Some(write.call_id.clone()), None, action, state, undo);
            steps.push((begun(write.started_at, write.key, undo), step));
        }
        for write in reversible.into_values() {
            let took_effect = (write.state == ReversibleState::Committed).then_some(true);
            let Some(state) = state_of(took_effect, Some(write)) else { continue };
            let (call_id, action) = (Some(write.call_id.clone()), Some(write.action.clone()));
            let step = step(call_id, None, action, state, Some(write));
            steps.push((begun(write.started_at, write.key, None), step));
        }
        steps.sort_by_key(|(at, _)| *at);
        steps.into_iter().map(|(_, step)| step).collect()
    }

    /// What a person found out about a write.
    fn found_out(&self, call_id: &str) -> Option<bool> {
        self.unsettled.iter().find(|write| write.call_id == call_id).and_then(|write| match write.state {
            WriteState::Settled { ran, .. } => Some(ran),
            WriteState::InFlight | WriteState::Unknown { .. } => None,
        })
    }
}

fn state_of_execution(execution: &Execution, undo: Option<&ReversibleWrite>) -> Option<StepState> {
    match execution.state {
        ExecutionState::Committed { .. } => state_of(Some(true), undo),
        ExecutionState::Failed { .. } => None,
        ExecutionState::Released { .. } => Some(StepState::Unknown { why: NOT_OBSERVED.into() }),
        ExecutionState::Claimed { .. } | ExecutionState::Unknown { .. } => state_of(None, undo),
    }
}

/// None for a write without an effect.
fn state_of(took_effect: Option<bool>, undo: Option<&ReversibleWrite>) -> Option<StepState> {
    match (took_effect, undo) {
        (Some(false), _) => None,
        (None, _) => Some(StepState::Unknown { why: NO_OUTCOME.into() }),
        (Some(true), None) => Some(StepState::Done { why: None }),
        (Some(true), Some(write)) if write.cancel.sealed.is_some() => Some(StepState::Waiting),
        (Some(true), Some(_)) => Some(StepState::Done { why: Some(NO_PATH.into()) }),
    }
}

fn step(
    call_id: Option<String>,
    decision_id: Option<String>,
    action: Option<String>,
    state: StepState,
    undo: Option<&ReversibleWrite>,
) -> SessionStep {
    let cancel = undo.filter(|_| state == StepState::Waiting).map(|write| write.cancel.clone());
    SessionStep { call_id, decision_id, action, state, cancel, reversible: undo.is_some() }
}

/// The action that a decision is about.
pub(super) fn action_of(decision: &Decision, execution: Option<&Execution>) -> Option<String> {
    let of_step = execution.and_then(|execution| Some(execution.step.as_ref()?.tool.clone()));
    of_step.or_else(|| Some(decision.action.clone())).filter(|action| !action.is_empty())
}
