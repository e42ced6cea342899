//! The end of a task (AAP 17.6): the session closes, and the delegation ends if its policy says so (AAP 8.3).

use super::{
    cancel::CancelView,
    revoke::{AutoRevokeTrigger, auto_revoke},
};
use crate::{
    env::Env,
    evidence::DraftEntry,
    people::Actor,
    records::{
        CancelledFor, Delegation, DelegationState, Record, RevokeReason, Session, SessionEnd, SessionState, Table,
    },
    refusal::Refusal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::{aap::revoke::TaskCompleteResponse, time::UnixMillis};

/// The longest summary, in characters.
pub const MAX_SUMMARY: usize = 500;

pub struct TaskComplete {
    pub actor: Actor,
    pub summary: Option<String>,
}

impl Operation for TaskComplete {
    type View = CancelView;
    type Answer = TaskCompleteResponse;
    type Refusal = Refusal;

    fn decide(self, view: &CancelView, env: &Env) -> Result<Step<TaskCompleteResponse>, Refusal> {
        let session = view.session.as_ref().ok_or(Refusal::SessionNotFound)?;
        match &self.actor {
            Actor::Agent(own) if own.key == session.key => {}
            _ => return Err(Refusal::SessionNotFound),
        }
        match &session.state {
            SessionState::Open => {}
            SessionState::Closed { at, why: SessionEnd::Completed } => {
                return Ok(Step::answer(answer(*at, was_revoked(view.delegation.as_ref()))));
            }
            SessionState::Closed { .. } => return Err(Refusal::SessionOver),
        }
        let state = SessionState::Closed { at: env.now, why: SessionEnd::Completed };
        let closed = Session { state, version: session.version + 1, ..session.clone() };
        let mut mint = env.mint();
        let entry = self.entry(view, session, env.now).seal(&mut mint)?;
        let puts = [Record::Session(closed)].into_iter().chain(view.end_watch()).collect();
        // A completed task is not undone.
        let removes = view.reversible.iter().map(|write| (Table::ReversibleWrite, write.key)).collect();
        let mut effects = Effects { puts, removes, evidence: vec![entry], ..Effects::default() };
        let place = (view.project.key, view.project.id.clone());
        for (delegation, live) in &view.ending {
            let trigger = (AutoRevokeTrigger::TaskCompletion, env.now);
            auto_revoke(&place, (delegation, live), trigger, env, &mut mint, &mut effects)?;
        }
        let rest = view.live.clone().without(view.ending.iter().map(|(_, live)| live));
        rest.cancel(&place, CancelledFor::SessionOver, env, &mut mint, &mut effects)?;
        Ok(Step { answer: answer(env.now, !view.ending.is_empty()), effects })
    }
}

/// Whether the completion of a task ends this delegation.
pub fn ends_with_task(delegation: &Delegation) -> bool {
    delegation.policy.on_task_completion && !delegation.is_ended()
}

impl TaskComplete {
    fn entry(&self, view: &CancelView, session: &Session, now: UnixMillis) -> DraftEntry {
        let entry = DraftEntry::new((view.project.key, &view.project.id), "task_completed", now)
            .in_session(session.key, &session.session_id)
            .open("operator", session.operator.as_str())
            .open("by", "agent")
            .hidden_if("summary", self.summary.clone());
        view.under_own_delegation(entry)
    }
}

fn was_revoked(delegation: Option<&Delegation>) -> bool {
    delegation.is_some_and(|delegation| {
        matches!(delegation.state, DelegationState::AutoRevoked { reason: RevokeReason::TaskComplete, .. })
    })
}

fn answer(completed_at: UnixMillis, revoked: bool) -> TaskCompleteResponse {
    TaskCompleteResponse { completed_at, revoked }
}
