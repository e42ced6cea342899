//! Extending a deadline: within policy, recorded, and announced to every approver (AAEP 6.4.2, E-08).

use super::{
    answer::{NotCounted, ProvenPerson},
    audience,
    due::{self, DueView},
    entry, render,
};
use crate::{
    aaep::{event_writer::EventWriter, texts::Notice},
    env::Env,
    records::{Decision, DecisionState, Record},
    signals::Signal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::time::UnixMillis;

pub struct Extend {
    pub by: ProvenPerson,
    pub seconds: i64,
}

impl Operation for Extend {
    type View = DueView;
    /// The new deadline.
    type Answer = UnixMillis;
    type Refusal = NotCounted;

    fn decide(self, view: &DueView, env: &Env) -> Result<Step<UnixMillis>, NotCounted> {
        let decision = &view.decision;
        let DecisionState::Pending { deadline, ballots, .. } = &decision.state else { return Err(NotCounted::Settled) };
        if env.now >= *deadline {
            return Err(NotCounted::TooLate);
        }
        if !self.by.may_answer || !audience(decision).includes(self.by.person, &self.by.roles) {
            return Err(NotCounted::NotEntitled);
        }
        let later = deadline.plus_secs(self.seconds.max(0)).min(decision.terms.latest);
        if later <= *deadline {
            return Ok(Step::answer(*deadline));
        }
        let due = due::next(decision.asked_at, later, env.now);
        let state = DecisionState::Pending { deadline: later, due, ballots: ballots.clone() };
        let extended = Decision { state, version: decision.version + 1, ..decision.clone() };
        let mut mint = env.mint();
        let mut talk = EventWriter::resume(&view.session, env.now);
        let left_ms = later.millis_since(env.now);
        let over = 100 - left_ms.saturating_mul(100) / later.millis_since(decision.asked_at).max(1);
        let notice = Notice::MoreTime { seconds: left_ms / 1000 };
        talk.announce_time_left(&audience(decision), &mut mint, &notice, over, left_ms, render::extension(decision));
        let (session, mut news) = talk.finish();
        news.push(Signal::Changed { decision: decision.key });
        let entry = entry(&view.place, decision, "decision_extended", env.now);
        let entry = self.by.record(entry).open("seconds", later.millis_since(*deadline) / 1000);
        let effects = Effects {
            puts: vec![Record::Decision(extended), Record::AaepSession(session)],
            guards: self.by.guards.clone(),
            evidence: vec![entry.seal(&mut mint)?],
            before: Some(*deadline),
            news,
            ..Effects::default()
        };
        Ok(Step { answer: later, effects })
    }
}
