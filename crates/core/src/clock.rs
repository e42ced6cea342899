//! An administrator accepts the clock after a jump, or after the database was used at a later time.
//!
//! Earlier steps have ended the affected records one by one; this step records it in every project. Credentials issued
//! while the clock was ahead would live too long once it is set back, so people sign in and agents register again.

use crate::{
    decision::ProjectRef,
    env::Env,
    epoch::signed_out,
    evidence::DraftEntry,
    records::{Person, Table},
    refusal::Refusal,
    signals::Signal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::{ids::RowKey, time::UnixMillis};

/// A clock set back by more than this has issued sign-ins and tokens with too long a life.
const LONGER_MS: i64 = 300_000;

pub struct AcceptClock {
    /// The clock before the change.
    pub was: UnixMillis,
    pub reason: String,
}

pub struct AcceptClockView {
    /// Each project with its ended records.
    pub projects: Vec<(ProjectRef, EndedWithClock)>,
    pub people: Vec<Person>,
    pub access_tokens: Vec<RowKey>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndedWithClock {
    pub approvals: usize,
    pub questions: usize,
    pub claims: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockAccepted {
    pub was: UnixMillis,
    pub now: UnixMillis,
    pub ended: EndedWithClock,
    /// Whether people must sign in and agents register again.
    pub signed_out: bool,
}

/// Whether setting the clock back ends sign-ins and access tokens.
pub fn ends_sign_ins(was: UnixMillis, now: UnixMillis) -> bool {
    was.millis_since(now) > LONGER_MS
}

impl Operation for AcceptClock {
    type View = AcceptClockView;
    type Answer = ClockAccepted;
    type Refusal = Refusal;

    fn decide(self, view: &AcceptClockView, env: &Env) -> Result<Step<ClockAccepted>, Refusal> {
        if self.reason.trim().is_empty() || self.reason.chars().count() > 1024 {
            return Err(Refusal::invalid("a reason has 1 to 1024 characters"));
        }
        let signed_out_too = ends_sign_ins(self.was, env.now);
        let (mut effects, mut mint, mut all) = (Effects::default(), env.mint(), EndedWithClock::default());
        for ((project, id), ended) in &view.projects {
            let entry = DraftEntry::new((*project, id), "clock_accepted", env.now)
                .open("clock_was", self.was.to_rfc3339())
                .open("clock_is", env.now.to_rfc3339())
                .open("approvals_lapsed", ended.approvals)
                .open("questions_expired", ended.questions)
                .open("claims_unknown", ended.claims)
                .open("signed_out", signed_out_too)
                .hidden("reason", self.reason.as_str());
            effects.evidence.push(entry.seal(&mut mint)?);
            all.approvals += ended.approvals;
            all.questions += ended.questions;
            all.claims += ended.claims;
        }
        if signed_out_too {
            effects.puts.extend(view.people.iter().map(signed_out));
            effects.news.extend(view.people.iter().map(|person| Signal::Standing { person: person.key }));
            effects.removes.extend(view.access_tokens.iter().map(|key| (Table::AccessToken, *key)));
        }
        let answer = ClockAccepted { was: self.was, now: env.now, ended: all, signed_out: signed_out_too };
        Ok(Step { answer, effects })
    }
}
