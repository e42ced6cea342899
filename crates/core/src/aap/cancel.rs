//! Ending a session (AAP 17.7). An operator's cancellation also revokes the receipt (C-41).

use super::{heartbeat, rollback};
use crate::{
    decision::cancel::Live,
    env::{Env, Mint},
    evidence::DraftEntry,
    people::Actor,
    records::{
        CancelledFor, Decision, Delegation, Heartbeat, Project, Record, ReversibleWrite, RevokedReceipt, Rollback,
        Session, SessionEnd, SessionState,
    },
    refusal::Refusal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::{aap::revoke::CancelResponse, hash::Digest, time::UnixMillis};

pub struct Cancel {
    pub actor: Actor,
    pub reason: Option<String>,
}

pub struct CancelView {
    pub project: Project,
    /// Looked up under the requesting operator, so another operator's session is not found.
    pub session: Option<Session>,
    /// The actor's own one, where the session has both modes.
    pub delegation: Option<Delegation>,
    /// The receipts of both modes, earlier ones included, as far as they are not revoked.
    pub receipts: Vec<Digest>,
    /// The watch on the session's heartbeats.
    pub heartbeat: Option<Heartbeat>,
    /// Open records of the session's agent.
    pub live: Live,
    /// The delegations of both modes that a completed task ends, with their open records; loaded for its completion only.
    pub ending: Vec<(Delegation, Live)>,
    /// The decisions of its open approvals.
    pub approved: Vec<Decision>,
    /// The newest rollback of the session.
    pub rollback: Option<Rollback>,
    /// The writes of the session that could be undone; loaded for its completion only.
    pub reversible: Vec<ReversibleWrite>,
}

impl Operation for Cancel {
    type View = CancelView;
    type Answer = CancelResponse;
    type Refusal = Refusal;

    fn decide(self, view: &CancelView, env: &Env) -> Result<Step<CancelResponse>, Refusal> {
        let session = view.session.as_ref().ok_or(Refusal::SessionNotFound)?;
        let by = self.by(session, view.delegation.as_ref()).ok_or(Refusal::SessionNotFound)?;
        let receipts = if by == "operator" { view.receipts.as_slice() } else { &[] };
        let at = match session.state {
            SessionState::Closed { at, .. } => at,
            SessionState::Open => env.now,
        };
        let rollback = view.rollback.as_ref().filter(|rollback| rollback.closed_at == at);
        // A completed task is not undone, nor is what is being undone already.
        let completed = matches!(session.state, SessionState::Closed { why: SessionEnd::Completed, .. });
        let rolls_back = rollback.is_none() && !completed;
        let ends = session.state == SessionState::Open;
        if !ends && !rolls_back && receipts.is_empty() {
            return Ok(Step::answer(rollback::answer(at, rollback)));
        }
        let mut mint = env.mint();
        let mut effects = Effects::default();
        // A closed session may still have a receipt to revoke, and a completed task stays completed.
        let why = match receipts {
            _ if completed => SessionEnd::Completed,
            [] => SessionEnd::Cancelled,
            _ => SessionEnd::ReceiptRevoked,
        };
        let state = SessionState::Closed { at, why };
        effects.puts.push(Record::Session(Session { state, version: session.version + 1, ..session.clone() }));
        for sha256 in receipts.iter().copied() {
            let revoked = RevokedReceipt { key: mint.key(), version: 1, project: session.project, sha256, at: env.now };
            effects.puts.push(Record::RevokedReceipt(revoked));
        }
        let begun = rolls_back.then(|| {
            let dropped = rollback::pending(&view.live, view.approved.clone());
            rollback::begin((session, at), view.rollback.as_ref(), &dropped, env, &mut mint)
        });
        let answer = rollback::answer(at, begun.as_ref().or(rollback));
        effects.puts.extend(begun.map(Record::Rollback));
        effects.evidence.push(self.entry(view, session, by, !receipts.is_empty(), env.now).seal(&mut mint)?);
        view.cancel_open(env, &mut mint, &mut effects)?;
        Ok(Step { answer, effects })
    }
}

impl Cancel {
    /// The actor's role, if it may cancel the session.
    fn by(&self, session: &Session, delegation: Option<&Delegation>) -> Option<&'static str> {
        match &self.actor {
            Actor::Operator(domain) if *domain == session.operator => Some("operator"),
            Actor::Agent(own) if own.key == session.key => Some("agent"),
            Actor::Person(member) => {
                let own = delegation.is_some_and(|d| d.service_account.is_none() && d.person == member.person.key);
                own.then_some("user")
            }
            _ => None,
        }
    }
}

impl CancelView {
    /// Questions, approvals and AAEP sessions end with the session, in the same step.
    fn cancel_open(&self, env: &Env, mint: &mut Mint, effects: &mut Effects) -> Result<(), Refusal> {
        effects.puts.extend(self.end_watch());
        let place = (self.project.key, self.project.id.clone());
        self.live.cancel(&place, CancelledFor::SessionOver, env, mint, effects)
    }
}

impl CancelView {
    /// An entry about the session, for the readers of the actor's own mode.
    pub(super) fn under_own_delegation(&self, entry: DraftEntry) -> DraftEntry {
        match &self.delegation {
            Some(delegation) => entry.under_delegation(delegation.key, &delegation.id).about(delegation),
            None => entry,
        }
    }

    /// Nobody waits for heartbeats of a session that is over.
    pub(super) fn end_watch(&self) -> Option<Record> {
        self.heartbeat.as_ref().and_then(heartbeat::over)
    }
}

impl Cancel {
    fn entry(
        &self,
        view: &CancelView,
        session: &Session,
        by: &'static str,
        receipt_revoked: bool,
        now: UnixMillis,
    ) -> DraftEntry {
        let event_type = if receipt_revoked { "consent_revoked" } else { "session_cancelled" };
        let entry = DraftEntry::new((view.project.key, &view.project.id), event_type, now)
            .in_session(session.key, &session.session_id)
            .open("operator", session.operator.as_str())
            .open("by", by)
            .hidden_if("reason", self.reason.clone());
        view.under_own_delegation(entry)
    }
}

/// The operator key behind a session has left the key set (C-88): the session ends, the delegation stays.
pub struct KeyWithdrawn {
    /// The key that was looked up. Meanwhile the session may have ended, or go on with another key.
    pub kid: String,
}

impl Operation for KeyWithdrawn {
    type View = CancelView;
    type Answer = ();
    type Refusal = Refusal;

    fn decide(self, view: &CancelView, env: &Env) -> Result<Step<()>, Refusal> {
        let session = view.session.as_ref().ok_or(Refusal::SessionNotFound)?;
        if session.state != SessionState::Open || session.operator_kid != self.kid {
            return Ok(Step::answer(()));
        }
        let state = SessionState::Closed { at: env.now, why: SessionEnd::KeyWithdrawn };
        let closed = Session { state, version: session.version + 1, ..session.clone() };
        let entry = DraftEntry::new((view.project.key, &view.project.id), "operator_key_withdrawn", env.now)
            .in_session(session.key, &session.session_id)
            .open("operator", session.operator.as_str())
            .open("by", "service");
        let mut mint = env.mint();
        let evidence = vec![view.under_own_delegation(entry).seal(&mut mint)?];
        let mut effects = Effects { puts: vec![Record::Session(closed)], evidence, ..Effects::default() };
        view.cancel_open(env, &mut mint, &mut effects)?;
        Ok(Step { answer: (), effects })
    }
}
