//! Undoing a call that was carried out: by its upstream, until its undo window closes (AAP 14.1, R-6, R-21).
//!
//! As in a rollback, the request is durable before it is sent and never repeated: with its response lost, nobody knows
//! whether the call was undone.

use super::{
    ProjectRef, entry,
    queue::{UndoneBy, check_undoer, nothing_to_undo, record_undoer},
};
use crate::{
    aap::{
        access::WriteResult,
        rollback::{CancelResult, LOST},
    },
    env::{Env, Mint},
    evidence::DraftEntry,
    records::{Allowance, CancelCall, Decision, Record, Table, UndoableCall, UndoableState},
    refusal::Refusal,
    signals::Signal,
    step::{Effects, Guard, Operation, Step},
};
use countersign_protocol::{
    decisions::{UndoDocument, UndoState},
    ids::RowKey,
    time::UnixMillis,
};

/// The exclusive lease of the request. Longer than its timeout.
pub const LEASE_S: i64 = 30;
/// What no node has asked the upstream to undo by then remains.
const WITHIN_S: i64 = 60;
/// How long the result is kept.
const KEPT_S: i64 = 30 * 86_400;

const NO_TIME: &str = "no node could ask for it in time";

/// How the upstream undoes a call, within a window of so many seconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedUndo {
    pub request: CancelCall,
    pub window_s: i64,
}

impl PlannedUndo {
    /// The row of a call that is being claimed.
    pub(super) fn begin(
        &self,
        decision: &Decision,
        session: RowKey,
        call_id: &str,
        env: &Env,
        mint: &mut Mint,
    ) -> UndoableCall {
        UndoableCall {
            key: mint.key(),
            version: 1,
            project: decision.project,
            session,
            decision: decision.key,
            call_id: call_id.to_owned(),
            request: self.request.clone(),
            window_s: self.window_s,
            closes_at: None,
            until: env.now.plus_secs(KEPT_S),
            state: UndoableState::InFlight,
        }
    }
}

impl UndoableCall {
    /// Its outcome, and the sealed path of its request once the response has completed it. The window opens for a call that
    /// took effect; others need no row.
    pub fn settle(&self, result: WriteResult, sealed: Option<String>, now: UnixMillis) -> (Effects, Option<Self>) {
        let sealed = sealed.or_else(|| self.request.sealed.clone());
        if result != WriteResult::Ran || sealed.is_none() || self.state != UndoableState::InFlight {
            let guards = vec![Guard { table: Table::UndoableCall, key: self.key, version: self.version }];
            let removes = vec![(Table::UndoableCall, self.key)];
            return (Effects { guards, removes, ..Effects::default() }, None);
        }
        let open = Self {
            request: CancelCall { sealed, ..self.request.clone() },
            closes_at: Some(now.plus_secs(self.window_s)),
            state: UndoableState::Open,
            version: self.version + 1,
            ..self.clone()
        };
        (Effects { puts: vec![Record::UndoableCall(open.clone())], ..Effects::default() }, Some(open))
    }

    /// When a node closes the window, continues to undo it, or gives up.
    pub fn due(&self) -> Option<UnixMillis> {
        match self.state {
            UndoableState::Open => self.closes_at,
            UndoableState::Wanted { at } => Some(at),
            UndoableState::Attempted { at } => Some(at.plus_secs(LEASE_S)),
            _ => None,
        }
    }

    /// Its undo window, once it opened; the URL is the engine's to add.
    pub fn window(&self) -> Option<UndoDocument> {
        let state = match &self.state {
            UndoableState::InFlight => return None,
            UndoableState::Open => UndoState::Open,
            UndoableState::Closed => UndoState::Closed,
            UndoableState::Wanted { .. } | UndoableState::Attempted { .. } => UndoState::Undoing,
            UndoableState::Undone { .. } => UndoState::Undone,
            UndoableState::Remains { .. } => UndoState::Remains,
            UndoableState::Unknown { .. } => UndoState::Unknown,
        };
        Some(UndoDocument { state, undo_url: None, expires_at: self.closes_at? })
    }

    /// The answer to whoever undid it; a refusal unless it is undone.
    pub fn undone_at(&self) -> Result<UnixMillis, Refusal> {
        match &self.state {
            UndoableState::Undone { at } => Ok(*at),
            UndoableState::Remains { why, .. } => Err(Refusal::Conflict(format!("it was not undone: {why}"))),
            UndoableState::Unknown { .. } => {
                Err(Refusal::Conflict(format!("whether it was undone is unknown: {LOST}")))
            }
            UndoableState::Wanted { .. } | UndoableState::Attempted { .. } => Err(being_undone()),
            _ => Err(Refusal::Internal),
        }
    }

    /// After a restore: its window is over, and a request may have been sent by the other copy.
    pub(crate) fn restored(&self, now: UnixMillis) -> Self {
        match self.state {
            UndoableState::Wanted { .. } | UndoableState::Attempted { .. } => {
                let request = CancelCall { sealed: None, ..self.request.clone() };
                Self { request, ..self.with(UndoableState::Unknown { at: now }) }
            }
            _ => self.with(UndoableState::Closed),
        }
    }

    fn with(&self, state: UndoableState) -> Self {
        Self { state, version: self.version + 1, ..self.clone() }
    }
}

pub fn being_undone() -> Refusal {
    Refusal::Conflict("it is being undone: repeat this request for the result".into())
}

/// A call in its window, with the rows behind the rights to undo it.
pub struct UndoCallView {
    pub place: ProjectRef,
    pub call: UndoableCall,
    pub decision: Decision,
    pub allowance: Option<Allowance>,
}

/// Wants a call undone. From then on nothing but the upstream's answer decides.
#[derive(Clone, Debug)]
pub struct UndoCall {
    pub by: UndoneBy,
}

impl Operation for UndoCall {
    type View = UndoCallView;
    type Answer = ();
    type Refusal = Refusal;

    fn decide(self, view: &UndoCallView, env: &Env) -> Result<Step<()>, Refusal> {
        if let UndoneBy::Agent(raiser) = &self.by
            && raiser.session != Some(view.call.session)
        {
            return Err(nothing_to_undo());
        }
        check_undoer(&self.by, &view.decision, view.allowance.as_ref())?;
        let closes_at = view.call.closes_at.ok_or_else(nothing_to_undo)?;
        match view.call.state {
            UndoableState::Open if env.now < closes_at => {}
            UndoableState::InFlight | UndoableState::Open | UndoableState::Closed => {
                return Err(Refusal::UndoWindowClosed(closes_at));
            }
            // A repeat gets the result of the first.
            _ => return Ok(Step::answer(())),
        }
        let entry = record_undoer(&self.by, view.entry("undo_requested", env.now));
        let mut effects = Effects {
            puts: vec![Record::UndoableCall(view.call.with(UndoableState::Wanted { at: env.now }))],
            evidence: vec![entry.seal(&mut env.mint())?],
            // By the store's clock.
            before: Some(closes_at),
            news: vec![Signal::Changed { decision: view.decision.key }],
            ..Effects::default()
        };
        if let UndoneBy::Person(person) = &self.by {
            effects.guards.extend(person.guards.iter().copied());
        }
        Ok(Step { answer: (), effects })
    }
}

/// Continues a due call: closes its window, begins its request, or gives up.
pub struct UndoCallDue {
    /// Whether this node has an enforcement point that can send the request.
    pub can_send: bool,
}

/// A durable request, to be finished by [`UndoCallAnswered`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoAttempt {
    pub begun_at: UnixMillis,
    pub request: CancelCall,
}

impl Operation for UndoCallDue {
    type View = UndoCallView;
    type Answer = Option<UndoAttempt>;
    type Refusal = Refusal;

    fn decide(self, view: &UndoCallView, env: &Env) -> Result<Step<Option<UndoAttempt>>, Refusal> {
        let call = &view.call;
        let Some(due) = call.due().filter(|due| env.now >= *due) else { return Ok(Step::answer(None)) };
        let effects = match call.state {
            UndoableState::Open => Effects {
                puts: vec![Record::UndoableCall(call.with(UndoableState::Closed))],
                news: vec![Signal::Changed { decision: view.decision.key }],
                ..Effects::default()
            },
            UndoableState::Wanted { at } if env.now >= at.plus_secs(WITHIN_S) => {
                view.finish(UndoableState::Remains { at: env.now, why: NO_TIME.into() }, env)?
            }
            UndoableState::Wanted { .. } if !self.can_send => return Ok(Step::answer(None)),
            UndoableState::Wanted { .. } => {
                let attempt = UndoAttempt { begun_at: env.now, request: call.request.clone() };
                let puts = vec![Record::UndoableCall(call.with(UndoableState::Attempted { at: env.now }))];
                let effects = Effects { puts, not_before: Some(due), ..Effects::default() };
                return Ok(Step { answer: Some(attempt), effects });
            }
            // Its node was lost with the answer.
            _ => view.finish(UndoableState::Unknown { at: env.now }, env)?,
        };
        Ok(Step { answer: None, effects: Effects { not_before: Some(due), ..effects } })
    }
}

/// The result of a request.
#[derive(Clone, Debug)]
pub struct UndoCallAnswered {
    pub attempt: UndoAttempt,
    pub result: CancelResult,
}

impl Operation for UndoCallAnswered {
    type View = UndoCallView;
    type Answer = ();
    type Refusal = Refusal;

    fn decide(self, view: &UndoCallView, env: &Env) -> Result<Step<()>, Refusal> {
        // Another node may have taken the only request for lost: a late answer is better than none.
        let awaited = match view.call.state {
            UndoableState::Attempted { at } => at == self.attempt.begun_at,
            UndoableState::Unknown { .. } => self.result != CancelResult::Unknown,
            _ => false,
        };
        if !awaited {
            return Ok(Step::answer(()));
        }
        let at = env.now;
        let state = match self.result {
            CancelResult::Undone => UndoableState::Undone { at },
            CancelResult::Unknown => UndoableState::Unknown { at },
            remains => UndoableState::Remains { at, why: remains.why_it_remains().unwrap_or_default() },
        };
        Ok(Step { answer: (), effects: view.finish(state, env)? })
    }
}

impl UndoCallView {
    fn entry(&self, event_type: &'static str, now: UnixMillis) -> DraftEntry {
        entry(&self.place, &self.decision, event_type, now).open("call_id", self.call.call_id.as_str())
    }

    /// The path of the request is not needed any more.
    fn finish(&self, state: UndoableState, env: &Env) -> Result<Effects, Refusal> {
        let (result, why) = match &state {
            UndoableState::Undone { .. } => ("undone", None),
            UndoableState::Remains { why, .. } => ("remains", Some(why.clone())),
            _ => ("unknown", Some(LOST.to_owned())),
        };
        let entry = self.entry("undo_finished", env.now).open("undo", result).open_if("why", why);
        let request = CancelCall { sealed: None, ..self.call.request.clone() };
        Ok(Effects {
            puts: vec![Record::UndoableCall(UndoableCall { request, ..self.call.with(state) })],
            evidence: vec![entry.seal(&mut env.mint())?],
            news: vec![Signal::Changed { decision: self.decision.key }],
            ..Effects::default()
        })
    }
}
