//! Ending a session (AAP 17.7). An operator's cancellation also revokes the receipt (C-41).

use crate::{
    decision::cancel::Live,
    env::{Env, Mint},
    evidence::DraftEntry,
    people::Actor,
    records::{CancelledFor, Delegation, Project, Record, RevokedReceipt, Session, SessionEnd, SessionState},
    refusal::Refusal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::{aap::revoke::CancelResponse, time::UnixMillis};

pub struct Cancel {
    pub actor: Actor,
    pub reason: Option<String>,
}

pub struct CancelView {
    pub project: Project,
    /// Looked up under the requesting operator, so another operator's session is not found.
    pub session: Option<Session>,
    pub delegation: Option<Delegation>,
    pub receipt_revoked: bool,
    /// Open records of the session's agent.
    pub live: Live,
}

impl Operation for Cancel {
    type View = CancelView;
    type Answer = CancelResponse;
    type Refusal = Refusal;

    fn decide(self, view: &CancelView, env: &Env) -> Result<Step<CancelResponse>, Refusal> {
        let session = view.session.as_ref().ok_or(Refusal::SessionNotFound)?;
        let by = match &self.actor {
            Actor::Operator(domain) if *domain == session.operator => "operator",
            Actor::Agent(own) if own.key == session.key => "agent",
            _ => return Err(Refusal::SessionNotFound),
        };
        let receipt = session.receipt.as_ref().filter(|_| by == "operator" && !view.receipt_revoked);
        let at = match (&session.state, receipt) {
            (SessionState::Closed { at, .. }, None) => return Ok(Step::answer(answer(*at))),
            // A closed session may still have a receipt to revoke.
            (SessionState::Closed { at, .. }, Some(_)) => *at,
            (SessionState::Open, _) => env.now,
        };
        let why = if receipt.is_some() { SessionEnd::ReceiptRevoked } else { SessionEnd::Cancelled };
        let state = SessionState::Closed { at, why };
        let closed = Session { state, version: session.version + 1, ..session.clone() };
        let mut mint = env.mint();
        let mut puts = vec![Record::Session(closed)];
        if let Some(receipt) = receipt {
            let (key, sha256) = (mint.key(), receipt.said);
            puts.push(Record::RevokedReceipt(RevokedReceipt {
                key,
                version: 1,
                project: session.project,
                sha256,
                at: env.now,
            }));
        }
        let evidence = vec![self.entry(view, session, by, receipt.is_some(), env.now).seal(&mut mint)?];
        let mut effects = Effects { puts, evidence, ..Effects::default() };
        view.cancel_open(env, &mut mint, &mut effects)?;
        Ok(Step { answer: answer(at), effects })
    }
}

impl CancelView {
    /// Questions, approvals and AAEP sessions end with the session, in the same step.
    fn cancel_open(&self, env: &Env, mint: &mut Mint, effects: &mut Effects) -> Result<(), Refusal> {
        let place = (self.project.key, self.project.id.clone());
        self.live.cancel(&place, CancelledFor::SessionOver, env, mint, effects)
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
            .open("rollback_status", "not_supported")
            .hidden_if("acting_for", session.subject.clone())
            .hidden_if("reason", self.reason.clone());
        match &view.delegation {
            Some(delegation) => entry.under_delegation(delegation.key, &delegation.id),
            None => entry,
        }
    }
}

/// The gateway holds no transactions, so it cannot roll back a caller's writes.
fn answer(cancelled_at: UnixMillis) -> CancelResponse {
    CancelResponse { cancelled_at, rollback_status: "not_supported".into() }
}

/// The operator key behind a session has left the key set (C-88): the session ends, the delegation stays.
pub struct KeyWithdrawn;

impl Operation for KeyWithdrawn {
    type View = CancelView;
    type Answer = ();
    type Refusal = Refusal;

    fn decide(self, view: &CancelView, env: &Env) -> Result<Step<()>, Refusal> {
        let session = view.session.as_ref().ok_or(Refusal::SessionNotFound)?;
        let state = SessionState::Closed { at: env.now, why: SessionEnd::KeyWithdrawn };
        let closed = Session { state, version: session.version + 1, ..session.clone() };
        let entry = DraftEntry::new((view.project.key, &view.project.id), "operator_key_withdrawn", env.now)
            .in_session(session.key, &session.session_id)
            .open("operator", session.operator.as_str())
            .open("by", "service");
        let entry = match &view.delegation {
            Some(delegation) => entry.under_delegation(delegation.key, &delegation.id),
            None => entry,
        };
        let mut mint = env.mint();
        let evidence = vec![entry.seal(&mut mint)?];
        let mut effects = Effects { puts: vec![Record::Session(closed)], evidence, ..Effects::default() };
        view.cancel_open(env, &mut mint, &mut effects)?;
        Ok(Step { answer: (), effects })
    }
}
