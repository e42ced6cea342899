//! The rollback of a cancelled session (AAP 17.7): what it did, what its upstreams undo, and what remains.
//!
//! A session is closed first; its steps are collected when no write of it is under way any more. Then its committed
//! writes are undone, the newest first, each with one request. A request is durable before it is sent and never
//! repeated: with its response lost, nobody knows whether the write was undone.
//!
//! A rollback lists and undoes a bounded number of steps in a round. Older ones follow in later rounds, from their own rows:
//! their results are in an entry of each round, and only counted in the rollback's row.

mod collect;
mod endpoint;
mod reversible;
mod rounds;

pub use collect::{CallOutcome, RollbackCollect, SessionSteps};
pub use endpoint::{CancelResult, LOST, cancel_rules};

use crate::{
    decision::cancel::Live,
    env::{Env, Mint},
    evidence::DraftEntry,
    records::{
        CancelCall, Decision, Delegation, Project, Record, Rollback, RollbackPhase, Session, SessionStep, StepState,
    },
    refusal::Refusal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::{
    aap::revoke::{CancelResponse, RollbackCounts, RollbackReport, RollbackStatus, RollbackStep},
    time::UnixMillis,
};
use serde_json::json;
use std::collections::BTreeSet;

/// The exclusive lease of one request. Longer than its timeout.
pub const LEASE_S: i64 = 30;
/// What is not undone after this time remains.
const MAX_S: i64 = 300;
/// The first write of a session may begin at a node whose clock is behind that of its registration.
const CLOCKS_DIFFER_S: i64 = 1;
/// A rollback lists this many steps, and undoes this many in a round.
pub const MAX_STEPS: usize = 100;

const RESTORED: &str = "a backup was restored while it was being undone";
const NO_TIME: &str = "the time to undo it was over";

/// The rollback of a session that ends now, with what will not run any more. `earlier`: that of its last end, if it was
/// opened again.
pub fn begin(
    (session, closed_at): (&Session, UnixMillis),
    earlier: Option<&Rollback>,
    dropped: &[Decision],
    env: &Env,
    mint: &mut Mint,
) -> Rollback {
    let mut seen = BTreeSet::new();
    let mut dropped = dropped.iter().filter(|decision| seen.insert(decision.id.clone()));
    let steps = dropped.by_ref().take(MAX_STEPS).map(not_done).collect();
    let not_done = dropped.count();
    let opened_at = session.opened_at.plus_secs(-CLOCKS_DIFFER_S);
    Rollback {
        key: mint.key(),
        version: 1,
        project: session.project,
        session: session.key,
        since: earlier.map_or(opened_at, |earlier| opened_at.max(earlier.closed_at.plus_millis(1))),
        closed_at,
        steps,
        more: false,
        round: 0,
        left: 0,
        unlisted: RollbackCounts { not_done, ..RollbackCounts::default() },
        unlisted_reversible: false,
        phase: RollbackPhase::Collecting { due: env.now },
    }
}

/// Decisions of a session whose calls end with it.
pub fn pending(live: &Live, approved: Vec<Decision>) -> Vec<Decision> {
    live.decisions.iter().filter(|decision| decision.is_pending()).cloned().chain(approved).collect()
}

fn not_done(decision: &Decision) -> SessionStep {
    SessionStep {
        call_id: None,
        decision_id: Some(decision.id.clone()),
        action: collect::action_of(decision, None),
        state: StepState::NotDone,
        cancel: None,
        reversible: false,
    }
}

/// A due rollback, with the rows that its entry names.
pub struct RollbackView {
    pub project: Project,
    pub rollback: Rollback,
    pub session: Session,
    pub delegation: Option<Delegation>,
}

/// Continues a rollback: begins its next request, or finishes it.
pub struct RollbackDue {
    /// Whether this node has an enforcement point that can send the request.
    pub can_send: bool,
}

/// A durable request, to be finished by [`RollbackAnswered`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CancelAttempt {
    pub step: usize,
    pub begun_at: UnixMillis,
    pub cancel: CancelCall,
}

impl Operation for RollbackDue {
    type View = RollbackView;
    type Answer = Option<CancelAttempt>;
    type Refusal = Refusal;

    fn decide(self, view: &RollbackView, env: &Env) -> Result<Step<Option<CancelAttempt>>, Refusal> {
        let RollbackPhase::Undoing { due } = view.rollback.phase else { return Ok(Step::answer(None)) };
        if env.now < due {
            return Ok(Step::answer(None));
        }
        let mut row = Rollback { version: view.rollback.version + 1, ..view.rollback.clone() };
        for step in &mut row.steps {
            match step.state {
                // Its node was lost with the answer.
                StepState::Attempted { .. } => step.end(StepState::Unknown { why: LOST.into() }),
                StepState::Waiting if env.now >= row.closed_at.plus_secs(MAX_S) => {
                    step.end(StepState::Done { why: Some(NO_TIME.into()) });
                }
                _ => {}
            }
        }
        let next = row.steps.iter().rposition(|step| step.state == StepState::Waiting);
        let attempt = match next.and_then(|n| Some((n, row.steps.get_mut(n)?))) {
            Some(_) if !self.can_send => return Ok(Step::answer(None)),
            Some((n, step)) => {
                step.state = StepState::Attempted { at: env.now };
                row.phase = RollbackPhase::Undoing { due: env.now.plus_secs(LEASE_S) };
                step.cancel.clone().map(|cancel| CancelAttempt { step: n, begun_at: env.now, cancel })
            }
            None => return view.end_round(row, due, env),
        };
        let puts = vec![Record::Rollback(row)];
        Ok(Step { answer: attempt, effects: Effects { puts, not_before: Some(due), ..Effects::default() } })
    }
}

/// The result of a request.
pub struct RollbackAnswered {
    pub attempt: CancelAttempt,
    pub result: CancelResult,
}

impl Operation for RollbackAnswered {
    type View = RollbackView;
    type Answer = ();
    type Refusal = Refusal;

    fn decide(self, view: &RollbackView, env: &Env) -> Result<Step<()>, Refusal> {
        let mut row = Rollback { version: view.rollback.version + 1, ..view.rollback.clone() };
        let begun = StepState::Attempted { at: self.attempt.begun_at };
        // Another node took the request for lost.
        let Some(step) = row.steps.get_mut(self.attempt.step).filter(|step| step.state == begun) else {
            return Ok(Step::answer(()));
        };
        step.end(match self.result {
            CancelResult::Undone => StepState::Undone { at: env.now },
            CancelResult::Unknown => StepState::Unknown { why: LOST.into() },
            remains => StepState::Done { why: remains.why_it_remains() },
        });
        row.phase = RollbackPhase::Undoing { due: env.now };
        Ok(Step { answer: (), effects: Effects { puts: vec![Record::Rollback(row)], ..Effects::default() } })
    }
}

impl Rollback {
    /// After a restore: the other copy may have sent every request, so none is sent, and the rollback is finished.
    pub(crate) fn restored(&self, now: UnixMillis) -> Self {
        let mut row = Self { version: self.version + 1, ..self.clone() };
        for step in &mut row.steps {
            if matches!(step.state, StepState::Waiting | StepState::Attempted { .. }) {
                step.end(StepState::Unknown { why: RESTORED.into() });
            }
        }
        if let RollbackPhase::Collecting { .. } = row.phase {
            (row.more, row.unlisted_reversible) = (true, true);
        }
        row.unlisted.unknown += std::mem::take(&mut row.left);
        row.phase = RollbackPhase::Undoing { due: now };
        row
    }
}

impl SessionStep {
    /// The path of its request is not needed any more.
    fn end(&mut self, state: StepState) {
        (self.state, self.cancel) = (state, None);
    }

    fn shown(&self) -> RollbackStep {
        let why = match &self.state {
            StepState::Done { why } => why.clone(),
            StepState::Unknown { why } => Some(why.clone()),
            _ => None,
        };
        let Self { call_id, decision_id, action, .. } = self.clone();
        RollbackStep { call_id, decision_id, action, why }
    }
}

impl RollbackView {
    fn finish<A: Default>(&self, row: Rollback, mut effects: Effects, env: &Env) -> Result<Step<A>, Refusal> {
        let row = Rollback { phase: RollbackPhase::Finished { at: env.now, status: status(&row) }, ..row };
        let entry = self.entry("rollback_finished", &report(&row), env.now);
        let entry = entry.open("rollback_status", status(&row).as_str());
        effects.evidence.push(entry.seal(&mut env.mint())?);
        effects.puts.push(Record::Rollback(row));
        Ok(Step { answer: A::default(), effects })
    }

    fn entry(&self, event_type: &'static str, report: &RollbackReport, now: UnixMillis) -> DraftEntry {
        let session = &self.session;
        let entry = DraftEntry::new((self.project.key, &self.project.id), event_type, now)
            .in_session(session.key, &session.session_id)
            .open("operator", session.operator.as_str())
            .open("by", "service")
            .open("rollback", json!(report))
            .hidden_if("acting_for", session.subject.clone());
        match &self.delegation {
            Some(delegation) => entry.under_delegation(delegation.key, &delegation.id),
            None => entry,
        }
    }
}

/// Nothing that remains or is unknown is called completed.
fn status(row: &Rollback) -> RollbackStatus {
    let remains = |step: &SessionStep| !matches!(step.state, StepState::NotDone | StepState::Undone { .. });
    let unlisted = row.left + row.unlisted.done + row.unlisted.unknown > 0;
    match row.more || unlisted || row.steps.iter().any(remains) {
        false => RollbackStatus::Completed,
        true if row.unlisted_reversible || row.steps.iter().any(|step| step.reversible) => RollbackStatus::Partial,
        true => RollbackStatus::NotSupported,
    }
}

/// The answer about a cancelled session; `rollback` is its row, if it has one.
pub fn answer(cancelled_at: UnixMillis, rollback: Option<&Rollback>) -> CancelResponse {
    let rollback_status = match rollback {
        Some(Rollback { phase: RollbackPhase::Finished { status, .. }, .. }) => *status,
        Some(_) => RollbackStatus::Partial,
        // A completed task is not undone.
        None => RollbackStatus::NotSupported,
    };
    CancelResponse { cancelled_at, rollback_status, rollback: rollback.map(report) }
}

fn report(row: &Rollback) -> RollbackReport {
    let unlisted = RollbackCounts { done: row.unlisted.done + row.left, ..row.unlisted };
    let unlisted = Some(unlisted).filter(|counts| *counts != RollbackCounts::default());
    RollbackReport {
        finished: matches!(row.phase, RollbackPhase::Finished { .. }),
        more: row.more || unlisted.is_some(),
        unlisted,
        ..lists(&row.steps)
    }
}

fn lists(steps: &[SessionStep]) -> RollbackReport {
    let mut report = RollbackReport::default();
    for step in steps {
        let list = match &step.state {
            StepState::NotDone => &mut report.not_done,
            StepState::Undone { .. } => &mut report.undone,
            StepState::Done { .. } | StepState::Waiting => &mut report.done,
            StepState::Attempted { .. } | StepState::Unknown { .. } => &mut report.unknown,
        };
        list.push(step.shown());
    }
    report
}

#[cfg(test)]
mod tests;
