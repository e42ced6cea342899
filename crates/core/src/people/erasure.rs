//! Erasing a person: requested, scheduled after the time that records must be kept, held, and carried out.

use crate::{
    decision::ProjectRef,
    env::Env,
    evidence::DraftEntry,
    records::{Decision, DecisionState, Delegation, Erasure, ErasureState, LegalHold, Person, Record},
    refusal::Refusal,
    signals::Signal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::time::UnixMillis;

/// Stands where a name was.
pub const ERASED: &str = "erased";

pub struct ErasureView {
    pub person: Person,
    pub erasure: Option<Erasure>,
    /// The projects in which the person is a member, or was one.
    pub projects: Vec<ProjectRef>,
    /// The end of the person's last delegation.
    pub last_end: Option<UnixMillis>,
}

/// Schedules an erasure, and with a reason carries it out before the records' time.
pub struct RequestErasure {
    pub early: Option<String>,
    /// How long records are kept after the end of their delegation (AAP-G-07).
    pub keep_days: i64,
}

impl Operation for RequestErasure {
    type View = ErasureView;
    type Answer = Erasure;
    type Refusal = Refusal;

    fn decide(self, view: &ErasureView, env: &Env) -> Result<Step<Erasure>, Refusal> {
        if self.early.as_ref().is_some_and(|reason| reason.trim().is_empty()) {
            return Err(Refusal::invalid("say why this cannot wait; the reason is recorded"));
        }
        let current = view.current(env);
        if let Some(hold) = &current.hold {
            return Err(Refusal::Conflict(format!(
                "a legal hold keeps these records since {}",
                hold.since.to_rfc3339()
            )));
        }
        if matches!(current.state, ErasureState::Done { .. }) {
            return Err(Refusal::Conflict("this person was erased already".into()));
        }
        let kept_until = view.last_end.unwrap_or(env.now).plus_secs(self.keep_days.saturating_mul(86_400));
        let due = if self.early.is_some() { env.now } else { kept_until.max(env.now) };
        let state = ErasureState::Scheduled { requested_at: env.now, due, early: self.early.clone() };
        let record = |entry: DraftEntry| entry.open("due", due.to_rfc3339()).hidden_if("reason", self.early.clone());
        view.put(Erasure { state, ..current }, "erasure_scheduled", record, env)
    }
}

/// Sets or lifts a legal hold.
pub struct HoldRecords {
    /// Why the records must stay; none lifts the hold.
    pub reason: Option<String>,
}

impl Operation for HoldRecords {
    type View = ErasureView;
    type Answer = Erasure;
    type Refusal = Refusal;

    fn decide(self, view: &ErasureView, env: &Env) -> Result<Step<Erasure>, Refusal> {
        if self.reason.as_ref().is_some_and(|reason| reason.trim().is_empty()) {
            return Err(Refusal::invalid("say what the hold is for; the reason is recorded"));
        }
        let current = view.current(env);
        if matches!(current.state, ErasureState::Done { .. }) {
            return Err(Refusal::Conflict("this person was erased already".into()));
        }
        let event_type = if self.reason.is_some() { "legal_hold_set" } else { "legal_hold_lifted" };
        let hold = self.reason.clone().map(|reason| LegalHold { since: env.now, reason });
        let record = |entry: DraftEntry| entry.hidden_if("reason", self.reason.clone());
        view.put(Erasure { hold, ..current }, event_type, record, env)
    }
}

impl ErasureView {
    fn current(&self, env: &Env) -> Erasure {
        let mut mint = env.mint();
        self.erasure.clone().unwrap_or_else(|| Erasure {
            key: mint.key(),
            version: 0,
            id: mint.id("era"),
            person: self.person.key,
            name: self.person.subject.clone(),
            hold: None,
            state: ErasureState::NotRequested,
        })
    }

    fn put(
        &self,
        erasure: Erasure,
        event_type: &'static str,
        record: impl Fn(DraftEntry) -> DraftEntry,
        env: &Env,
    ) -> Result<Step<Erasure>, Refusal> {
        let erasure = Erasure { version: erasure.version + 1, ..erasure };
        let mut effects = Effects { puts: vec![Record::Erasure(erasure.clone())], ..Effects::default() };
        let mut salts = env.salts();
        for place in &self.projects {
            let entry = DraftEntry::new((place.0, &place.1), event_type, env.now)
                .open("erasure_id", erasure.id.as_str())
                .open("by", "service")
                .hidden("subject", self.person.subject.as_str());
            effects.evidence.push(record(entry).seal(&mut salts)?);
        }
        Ok(Step { answer: erasure, effects })
    }
}

/// The last step, once openings and records are gone: no name is left, and each project's log says so.
pub struct ConcludeErasure {
    /// The openings that were removed, by project.
    pub openings: Vec<(ProjectRef, u64)>,
}

impl Operation for ConcludeErasure {
    type View = (Person, Erasure);
    type Answer = Erasure;
    type Refusal = Refusal;

    fn decide(self, (person, erasure): &Self::View, env: &Env) -> Result<Step<Erasure>, Refusal> {
        let ErasureState::Scheduled { early, .. } = &erasure.state else { return Ok(Step::answer(erasure.clone())) };
        let removed = self.openings.iter().map(|(_, openings)| openings).sum();
        let done = Erasure {
            version: erasure.version + 1,
            name: String::new(),
            state: ErasureState::Done { at: env.now, openings: removed },
            ..erasure.clone()
        };
        let nobody = Person {
            version: person.version + 1,
            subject: format!("{ERASED}:{}", erasure.id),
            display_name: ERASED.into(),
            email: None,
            password_hash: None,
            platform_admin: false,
            disabled: true,
            generation: person.generation + 1,
            ..person.clone()
        };
        let mut effects = Effects {
            puts: vec![Record::Person(nobody), Record::Erasure(done.clone())],
            news: vec![Signal::Standing { person: person.key }],
            ..Effects::default()
        };
        let mut salts = env.salts();
        for (place, openings) in &self.openings {
            let entry = DraftEntry::new((place.0, &place.1), "person_erased", env.now)
                .open("erasure_id", erasure.id.as_str())
                .open("openings", *openings)
                .open_if("early", early.as_ref().map(|_| true))
                .hidden_if("reason", early.clone());
            effects.evidence.push(entry.seal(&mut salts)?);
        }
        Ok(Step { answer: done, effects })
    }
}

/// A decision without the name of a person who made it; none if it does not have it.
pub fn without_decider(decision: &Decision, person: &Person) -> Option<Decision> {
    let mut state = decision.state.clone();
    let (by, text) = match &mut state {
        DecisionState::Accepted { by, rationale } => (by, rationale),
        DecisionState::Rejected { by, rationale, .. } => (by, rationale),
        DecisionState::Cancelled { by: Some(by), reason, .. } => (by, reason),
        DecisionState::Answered { by, .. } => (by, &mut None),
        _ => return None,
    };
    if by.person != person.key || by.subject == ERASED {
        return None;
    }
    (by.subject, by.decided_by, by.correlation_id) = (ERASED.into(), None, None);
    *text = None;
    Some(Decision { state, version: decision.version + 1, ..decision.clone() })
}

/// A delegation without the name of its person; none if it does not have it.
pub fn without_subject(delegation: &Delegation) -> Option<Delegation> {
    let named = delegation.subject != ERASED;
    named.then(|| Delegation { subject: ERASED.into(), version: delegation.version + 1, ..delegation.clone() })
}
