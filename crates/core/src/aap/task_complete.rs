//! The end of a task (AAP 17.6): the session closes, and the delegation ends if its policy says so (AAP 8.3).

use super::{
    cancel::CancelView,
    revoke::{AutoRevokeTrigger, auto_revoke},
};
use crate::{
    env::Env,
    evidence::DraftEntry,
    people::Actor,
    records::{CancelledFor, Delegation, DelegationState, Record, RevokeReason, Session, SessionEnd, SessionState},
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
    /// `live` holds the open records of the delegation if its policy ends it, else those of the session.
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
        let mut effects = Effects { puts: vec![Record::Session(closed)], evidence: vec![entry], ..Effects::default() };
        let place = (view.project.key, view.project.id.clone());
        let revoked = view.delegation.as_ref().filter(|delegation| ends_with_task(delegation));
        match revoked {
            Some(delegation) => {
                let trigger = (AutoRevokeTrigger::TaskCompletion, env.now);
                auto_revoke(&place, (delegation, &view.live), trigger, env, &mut mint, &mut effects)?;
            }
            None => view.live.cancel(&place, CancelledFor::SessionOver, env, &mut mint, &mut effects)?,
        }
        Ok(Step { answer: answer(env.now, revoked.is_some()), effects })
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
            .hidden_if("acting_for", session.subject.clone())
            .hidden_if("summary", self.summary.clone());
        match &view.delegation {
            Some(delegation) => entry.under_delegation(delegation.key, &delegation.id),
            None => entry,
        }
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
