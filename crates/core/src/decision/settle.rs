//! What every settlement has in common: it is told to all who were asked, and it makes room for further questions.

use super::{Place, audience, entry, forget_request, open_counts, render};
use crate::{
    aaep::{
        talk::{AWAITING_INPUT, CALLING_TOOL, THINKING, Talk},
        words::Notice,
    },
    env::{Env, Mint},
    evidence::Entry,
    news::News,
    records::{AaepSession, Allowance, AllowanceState, Decision, DecisionState, Defaulted, Question, Record},
    refusal::Refusal,
    step::Effects,
};
use countersign_protocol::aaep::event::{Payload, SessionCompleted, Summaries};
use serde_json::json;

/// A decision that has left `pending`, and everything that follows from it.
pub(super) struct Settlement {
    pub decision: Decision,
    pub notice: Notice,
}

impl Settlement {
    /// The effects that all settlements share; the caller adds its time window and counts.
    pub(super) fn effects(
        self,
        place: &Place,
        session: &AaepSession,
        event: impl FnOnce(Entry) -> Entry,
        env: &Env,
        mint: &mut Mint,
    ) -> Result<(Effects, Option<Allowance>), Refusal> {
        let Self { decision, notice } = self;
        let mut talk = Talk::resume(session, env.now);
        tell(&mut talk, &decision, &notice, mint);
        let allowance = allows(&decision).then(|| allowance(&decision, env, mint));
        let (session, mut news) = talk.finish();
        news.push(News::Changed { decision: decision.key });
        let evidence = vec![event(entry(place, &decision, "decision_settled", env.now)).seal(mint)?];
        let counts = open_counts(&decision.raised_by, place.0, -1, (0, 0), env.now);
        let kept = allowance.is_some();
        let removes = forget_request(decision.point, decision.key).filter(|_| !kept).into_iter().collect();
        let mut puts = vec![Record::Decision(decision), Record::AaepSession(session)];
        puts.extend(allowance.clone().map(Record::Allowance));
        Ok((Effects { puts, removes, counts, evidence, news, ..Effects::default() }, allowance))
    }
}

/// Tells all who were asked what became of it, and leaves the session in a state that is true (AAEP 6.7.2, S4).
pub(super) fn tell(talk: &mut Talk, decision: &Decision, notice: &Notice, mint: &mut Mint) {
    talk.waits_no_more_for(decision.key);
    if talk.is_over() {
        return;
    }
    let to = audience(decision);
    let mut extension = render::extension(decision);
    extension.insert("settled".into(), json!(settled_as(decision)));
    let next = if allows(decision) { CALLING_TOOL } else { THINKING };
    talk.state_to(&to, mint, next, notice, extension);
    let open = talk.waiting().len();
    if open > 0 {
        talk.state_to(&to, mint, AWAITING_INPUT, &Notice::StillWaiting { open }, render::extension(decision));
    }
    if !allows(decision) {
        close_own_session(talk, decision, mint);
    }
}

/// A session that was made for one question is over with it.
pub(super) fn close_own_session(talk: &mut Talk, decision: &Decision, mint: &mut Mint) {
    if !talk.session().implicit || talk.is_over() || !talk.waiting().is_empty() {
        return;
    }
    talk.announce(&audience(decision), mint, render::extension(decision), |words| {
        let summaries = Summaries::normal(words(&Notice::Finished));
        Payload::SessionCompleted(SessionCompleted { summaries, ..SessionCompleted::default() })
    });
}

/// Whether something may run now.
pub(super) fn allows(decision: &Decision) -> bool {
    matches!(decision.state, DecisionState::Accepted { .. } | DecisionState::Expired { as_if: Defaulted::Accept, .. })
        && matches!(decision.question, Question::Confirmation(_))
}

fn allowance(decision: &Decision, env: &Env, mint: &mut Mint) -> Allowance {
    Allowance {
        key: mint.key(),
        version: 1,
        project: decision.project,
        decision: decision.key,
        raised_by: decision.raised_by.clone(),
        point: decision.point,
        digest: decision.digest,
        uses: 1,
        used: 0,
        until: env.now.plus_secs(decision.terms.allowance_s),
        state: AllowanceState::Open,
    }
}

/// The word for a state, as documents and events have it.
pub fn settled_as(decision: &Decision) -> &'static str {
    match &decision.state {
        DecisionState::Pending { .. } => "pending",
        DecisionState::Accepted { .. } => "accepted",
        DecisionState::Rejected { .. } => "rejected",
        DecisionState::Answered { .. } => "answered",
        DecisionState::Expired { .. } => "expired",
        DecisionState::Cancelled { .. } => "cancelled",
    }
}
