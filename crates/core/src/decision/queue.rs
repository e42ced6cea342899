//! Undo windows: an approved call is held, undone or sent when its window has closed (AAP 14.1, R-5, R-21).
//!
//! The held call is data of its open allowance, so it ends with everything that ends an approval: revocation, the end of
//! the session, a restored backup. Only the claim, which decides again, sends it.

use super::{
    ProjectRef, answer::ProvenPerson, audience, cancel::cancelled_for, claim::ClaimView, due::AllowanceDueView, entry,
    render, revoke::check_entitlement,
};
use crate::{
    aaep::{event_writer::EventWriter, texts::Notice},
    env::Env,
    evidence::DraftEntry,
    records::{Allowance, AllowanceState, CancelledFor, Decision, QueuedCall, Raiser, Record},
    refusal::Refusal,
    signals::Signal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::{hash::Digest, time::UnixMillis};

/// How long after its window a call may still be sent. What nobody sent by then lapses.
pub const SEND_WITHIN_S: i64 = 60;
/// How long one node has for an attempt before another may begin the next.
const ATTEMPT_S: i64 = 10;

/// Holds an approved call for its undo window.
#[derive(Clone, Debug)]
pub struct Queue {
    pub window_s: i64,
    pub mode: Option<String>,
    pub intent_type: Option<String>,
    pub consent: Option<Digest>,
}

impl Operation for Queue {
    type View = ClaimView;
    type Answer = QueuedCall;
    type Refusal = Refusal;

    /// To be decided beside the claim that would let the call run now.
    fn decide(self, view: &ClaimView, env: &Env) -> Result<Step<QueuedCall>, Refusal> {
        let allowance = view.allowance.as_ref().ok_or(Refusal::Internal)?;
        // One call a row is held: under a standing approval nobody would have seen it.
        if allowance.is_bounded() {
            return Err(Refusal::ApprovalGone("calls that can be undone are approved one by one"));
        }
        let closes_at = env.now.plus_secs(self.window_s);
        let queued = QueuedCall {
            since: env.now,
            closes_at,
            due: closes_at,
            decision_id: view.decision.id.clone(),
            mode: self.mode,
            intent_type: self.intent_type,
            consent: self.consent,
        };
        let held = Allowance {
            queued: Some(Box::new(queued.clone())),
            until: closes_at.plus_secs(SEND_WITHIN_S),
            version: allowance.version + 1,
            ..allowance.clone()
        };
        let mut mint = env.mint();
        let entry =
            entry(&view.place, &view.decision, "undo_window_opened", env.now).open("closes_at", closes_at.to_rfc3339());
        let mut effects = Effects {
            guards: view.guards.clone(),
            puts: vec![Record::Allowance(held)],
            evidence: vec![entry.seal(&mut mint)?],
            before: Some(allowance.until),
            news: vec![Signal::Changed { decision: view.decision.key }],
            ..Effects::default()
        };
        let mut talk = EventWriter::resume(&view.session, env.now);
        if !talk.is_ended() {
            let (to, notice) = (audience(&view.decision), Notice::Undoable { seconds: self.window_s });
            talk.announce_time_left(
                &to,
                &mut mint,
                &notice,
                0,
                self.window_s * 1000,
                render::extension(&view.decision),
            );
            let (session, said) = talk.finish();
            effects.puts.push(Record::AaepSession(session));
            effects.news.extend(said);
        }
        Ok(Step { answer: queued, effects })
    }
}

/// Undoes a held call: it never leaves.
#[derive(Clone, Debug)]
pub struct Undo {
    pub by: UndoneBy,
}

#[derive(Clone, Debug)]
pub enum UndoneBy {
    /// The session that sent the call.
    Agent(Raiser),
    Person(Box<ProvenPerson>),
}

impl Operation for Undo {
    type View = AllowanceDueView;
    /// When it was undone.
    type Answer = UnixMillis;
    type Refusal = Refusal;

    fn decide(self, view: &AllowanceDueView, env: &Env) -> Result<Step<UnixMillis>, Refusal> {
        check_undoer(&self.by, &view.decision, Some(&view.allowance))?;
        let queued = view.allowance.queued.as_ref().ok_or_else(nothing_to_undo)?;
        match view.allowance.state {
            // A repeat gets the same answer (AAP 14.1).
            AllowanceState::Cancelled { at, why: CancelledFor::Undone } => return Ok(Step::answer(at)),
            AllowanceState::Open if env.now < queued.closes_at => {}
            AllowanceState::Open | AllowanceState::Spent => return Err(Refusal::UndoWindowClosed(queued.closes_at)),
            AllowanceState::Lapsed { .. } | AllowanceState::Cancelled { .. } => {
                return Err(Refusal::Conflict(
                    "the call was not sent and never will be: nothing is left to undo".into(),
                ));
            }
        }
        let record = |entry: DraftEntry| self.record(entry);
        let mut effects = end(view, CancelledFor::Undone, &Notice::Undone, record, env)?;
        if let UndoneBy::Person(person) = &self.by {
            effects.guards.extend(person.guards.iter().copied());
        }
        // By the store's clock: what is undone was not due, and what was due is not undone.
        effects.before = Some(queued.closes_at);
        Ok(Step { answer: env.now, effects })
    }
}

impl Undo {
    fn record(&self, entry: DraftEntry) -> DraftEntry {
        record_undoer(&self.by, entry.open("cancelled_for", cancelled_for(CancelledFor::Undone)))
    }
}

/// For another session the call does not exist.
pub(super) fn check_undoer(by: &UndoneBy, decision: &Decision, allowance: Option<&Allowance>) -> Result<(), Refusal> {
    match by {
        UndoneBy::Agent(raiser) => {
            let asked = &decision.raised_by;
            let own = raiser.principal == asked.principal && raiser.session == asked.session;
            if own { Ok(()) } else { Err(nothing_to_undo()) }
        }
        UndoneBy::Person(person) => check_entitlement(person, decision, allowance),
    }
}

pub(super) fn record_undoer(by: &UndoneBy, entry: DraftEntry) -> DraftEntry {
    match by {
        UndoneBy::Agent(_) => entry.open("role", "agent"),
        UndoneBy::Person(person) => person.record(entry).open("role", person.deciding.label()),
    }
}

/// A node begins to send a held call. The attempt is durable first, so no other node begins meanwhile.
///
/// A window that closed while no node was in service ends unsent: a node that starts later cannot know how long nobody
/// watched. A durable attempt proves that one did, so the call is then sent within its time, also after a crash. A node
/// that is killed between the close and its first attempt leaves no such proof: without another node the call is not sent.
pub struct QueueDue {
    /// Start of this node's service.
    pub serving_since: UnixMillis,
}

impl Operation for QueueDue {
    type View = Allowance;
    type Answer = bool;
    type Refusal = Refusal;

    fn decide(self, allowance: &Allowance, env: &Env) -> Result<Step<bool>, Refusal> {
        let Some(queued) = allowance.queued_call() else { return Ok(Step::answer(false)) };
        let unwatched = queued.closes_at < self.serving_since && !queued.was_begun();
        if env.now < queued.due || env.now >= allowance.until || unwatched {
            return Ok(Step::answer(false));
        }
        let begun = QueuedCall { due: env.now.plus_secs(ATTEMPT_S), ..queued.clone() };
        let begun = Allowance { queued: Some(Box::new(begun)), version: allowance.version + 1, ..allowance.clone() };
        let effects = Effects {
            puts: vec![Record::Allowance(begun)],
            not_before: Some(queued.due),
            before: Some(allowance.until),
            ..Effects::default()
        };
        Ok(Step { answer: true, effects })
    }
}

/// Ends a held call that was refused when its window closed: what it was approved under no longer holds.
pub struct DropQueued {
    /// The code of the refusal.
    pub why: String,
}

impl Operation for DropQueued {
    type View = AllowanceDueView;
    type Answer = ();
    type Refusal = Refusal;

    fn decide(self, view: &AllowanceDueView, env: &Env) -> Result<Step<()>, Refusal> {
        if view.allowance.queued_call().is_none() {
            return Ok(Step::answer(()));
        }
        let record = |entry: DraftEntry| {
            entry.open("cancelled_for", cancelled_for(CancelledFor::NotSent)).open("refused_as", self.why.as_str())
        };
        Ok(Step { answer: (), effects: end(view, CancelledFor::NotSent, &Notice::NotSent, record, env)? })
    }
}

fn end(
    view: &AllowanceDueView,
    why: CancelledFor,
    notice: &Notice,
    record: impl FnOnce(DraftEntry) -> DraftEntry,
    env: &Env,
) -> Result<Effects, Refusal> {
    let state = AllowanceState::Cancelled { at: env.now, why };
    let over = Allowance { state, version: view.allowance.version + 1, ..view.allowance.clone() };
    view.end_allowance(over, notice, record, env)
}

/// The entry of a held call that ends with its delegation or session.
pub(super) fn cancelled_entry(
    place: &ProjectRef,
    allowance: &Allowance,
    queued: &QueuedCall,
    why: CancelledFor,
    env: &Env,
) -> DraftEntry {
    let entry = DraftEntry::new((place.0, &place.1), "allowance_cancelled", env.now)
        .open("decision_id", queued.decision_id.as_str())
        .open("cancelled_for", cancelled_for(why));
    match allowance.raised_by.delegation {
        Some(delegation) => entry.under_delegation(delegation, &allowance.raised_by.principal),
        None => entry,
    }
}

/// The refusal of a request while the same call is held.
pub fn queued_already(decision: &str) -> Refusal {
    Refusal::Conflict(format!("exactly this call is held until its undo window closes: see decision {decision}"))
}

/// A guessed id, another session's and one of another project look alike.
pub fn nothing_to_undo() -> Refusal {
    Refusal::NotFound("there is no call of yours to undo under this id".into())
}
