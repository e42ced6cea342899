//! The rollback of a cancelled session (AAP 17.7): what it did, what its upstreams undo, and what remains.
//!
//! A session is closed first; its steps are collected when no write of it is under way any more. Then its committed
//! writes are undone, the newest first, each with one request. A request is durable before it is sent and never
//! repeated: with its response lost, nobody knows whether the write was undone.

mod collect;
mod endpoint;
mod reversible;

pub use collect::{CallOutcome, RollbackCollect, SessionSteps};
pub use endpoint::{CancelResult, cancel_rules};

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
    aap::revoke::{CancelResponse, RollbackReport, RollbackStatus, RollbackStep},
    time::UnixMillis,
};
use serde_json::json;
use std::collections::BTreeSet;

/// The exclusive lease of one request. Longer than its timeout.
pub const LEASE_S: i64 = 30;
/// What is not undone after this time remains.
const MAX_S: i64 = 300;
/// A rollback lists this many steps, and undoes this many.
pub const MAX_STEPS: usize = 100;

const LOST: &str = "it was asked to undo it, and its answer was lost";
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
    let dropped = dropped.iter().filter(|decision| seen.insert(decision.id.clone()));
    Rollback {
        key: mint.key(),
        version: 1,
        project: session.project,
        session: session.key,
        since: earlier.map_or(session.opened_at, |earlier| earlier.closed_at.plus_millis(1)),
        closed_at,
        steps: dropped.take(MAX_STEPS).map(not_done).collect(),
        more: false,
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
            None => return view.finish(row, due, env),
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
            CancelResult::Refused { status } => {
                StepState::Done { why: Some(format!("the service refused to undo it: {status}")) }
            }
            CancelResult::NotSent { why } => StepState::Done { why: Some(why.into()) },
            CancelResult::Unknown => StepState::Unknown { why: LOST.into() },
        });
        row.phase = RollbackPhase::Undoing { due: env.now };
        Ok(Step { answer: (), effects: Effects { puts: vec![Record::Rollback(row)], ..Effects::default() } })
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
    fn finish<A: Default>(&self, row: Rollback, due: UnixMillis, env: &Env) -> Result<Step<A>, Refusal> {
        let row = Rollback { phase: RollbackPhase::Finished { at: env.now, status: status(&row) }, ..row };
        let session = &self.session;
        let entry = DraftEntry::new((self.project.key, &self.project.id), "rollback_finished", env.now)
            .in_session(session.key, &session.session_id)
            .open("operator", session.operator.as_str())
            .open("by", "service")
            .open("rollback_status", status(&row).as_str())
            .open("rollback", json!(report(&row)))
            .hidden_if("acting_for", session.subject.clone());
        let entry = match &self.delegation {
            Some(delegation) => entry.under_delegation(delegation.key, &delegation.id),
            None => entry,
        };
        let effects = Effects {
            evidence: vec![entry.seal(&mut env.mint())?],
            puts: vec![Record::Rollback(row)],
            not_before: Some(due),
            ..Effects::default()
        };
        Ok(Step { answer: A::default(), effects })
    }
}

/// Nothing that remains or is unknown is called completed.
fn status(row: &Rollback) -> RollbackStatus {
    let remains = |step: &SessionStep| !matches!(step.state, StepState::NotDone | StepState::Undone { .. });
    match row.more || row.steps.iter().any(remains) {
        false => RollbackStatus::Completed,
        true if row.steps.iter().any(|step| step.reversible) => RollbackStatus::Partial,
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
    let mut report = RollbackReport {
        finished: matches!(row.phase, RollbackPhase::Finished { .. }),
        more: row.more,
        ..RollbackReport::default()
    };
    for step in &row.steps {
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
