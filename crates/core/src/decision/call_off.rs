//! Calling off: by whoever asked, with the session, or because the agent was cut off (AAEP 6.8, R-5).

use super::{
    Place,
    due::{DueView, stop_calling},
    entry, forget_request, open_counts, settle,
};
use crate::{
    aaep::{talk::Talk, words::Notice},
    env::{Env, Mint},
    news::News,
    records::{AaepSession, Allowance, AllowanceState, CancelledFor, Decision, DecisionState, Record},
    refusal::Refusal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::{
    aaep::event::{CancelledBy, Payload, SessionCancelled, Summaries},
    ids::RowKey,
};
use std::collections::BTreeMap;

/// The raiser does not want its question answered any more.
pub struct Withdraw {
    pub reason: Option<String>,
}

impl Operation for Withdraw {
    type View = DueView;
    type Answer = ();
    type Refusal = Refusal;

    fn decide(self, view: &DueView, env: &Env) -> Result<Step<()>, Refusal> {
        if !view.decision.is_pending() {
            let state = settle::settled_as(&view.decision);
            return Err(Refusal::Conflict(format!("the question is {state} already and cannot be withdrawn")));
        }
        let state = DecisionState::Cancelled { at: env.now, why: CancelledFor::Withdrawn };
        let decision = Decision { state, version: view.decision.version + 1, ..view.decision.clone() };
        let notice = Notice::Withdrawn { reason: self.reason.clone() };
        let record = |entry: crate::evidence::Entry| {
            entry.open("state", "cancelled").open("cancelled_for", "withdrawn").hidden_if("reason", self.reason.clone())
        };
        let settlement = settle::Settlement { decision, notice };
        let (effects, _) = settlement.effects(&view.place, &view.session, record, env, &mut env.mint())?;
        Ok(Step { answer: (), effects })
    }
}

/// Everything that an agent has open: what ends with its delegation or session.
#[derive(Clone, Debug, Default)]
pub struct Live {
    pub decisions: Vec<Decision>,
    pub allowances: Vec<Allowance>,
    pub sessions: Vec<AaepSession>,
}

impl Live {
    /// Calls everything off, in the step that causes it.
    pub fn end(
        &self,
        place: &Place,
        why: CancelledFor,
        env: &Env,
        mint: &mut Mint,
        effects: &mut Effects,
    ) -> Result<(), Refusal> {
        let mut talks: BTreeMap<RowKey, Talk> =
            self.sessions.iter().map(|session| (session.key, Talk::resume(session, env.now))).collect();
        for decision in self.decisions.iter().filter(|decision| decision.is_pending()) {
            let state = DecisionState::Cancelled { at: env.now, why };
            let over = Decision { state, version: decision.version + 1, ..decision.clone() };
            if let Some(talk) = talks.get_mut(&decision.asked_in) {
                settle::tell(talk, &over, &Notice::Revoked, mint);
            }
            let entry = entry(place, &over, "decision_settled", env.now).open("state", "cancelled");
            effects.evidence.push(entry.open("cancelled_for", cancelled_for(why)).seal(mint)?);
            effects.counts.extend(open_counts(&over.raised_by, place.0, -1, (0, 0), env.now));
            effects.news.push(News::Changed { decision: over.key });
            effects.removes.extend(forget_request(over.point, over.key));
            effects.puts.push(Record::Decision(over));
        }
        for allowance in self.allowances.iter().filter(|allowance| allowance.is_open()) {
            let state = AllowanceState::Cancelled { at: env.now, why };
            let over = Allowance { state, version: allowance.version + 1, ..allowance.clone() };
            effects.news.push(News::Changed { decision: over.decision });
            effects.removes.extend(forget_request(over.point, over.decision));
            effects.puts.push(Record::Allowance(over));
        }
        for (_, mut talk) in talks {
            cancel_session(&mut talk, mint);
            let (session, said) = talk.finish();
            effects.puts.push(Record::AaepSession(session));
            effects.news.extend(said);
        }
        Ok(())
    }
}

/// One allowance that may not be spent any more, because the approver may not approve any more.
pub fn cancel_allowance(
    place: &Place,
    decision: &Decision,
    allowance: &Allowance,
    session: &AaepSession,
    env: &Env,
) -> Result<Effects, Refusal> {
    let mut mint = env.mint();
    let state = AllowanceState::Cancelled { at: env.now, why: CancelledFor::Revoked };
    let over = Allowance { state, version: allowance.version + 1, ..allowance.clone() };
    let removes = forget_request(decision.point, decision.key).into_iter().collect();
    let mut effects = Effects { puts: vec![Record::Allowance(over)], removes, ..Effects::default() };
    let mut talk = Talk::resume(session, env.now);
    if !talk.is_over() {
        stop_calling(&mut talk, decision, &Notice::Revoked, &mut mint);
        settle::close_own_session(&mut talk, decision, &mut mint);
        let (session, said) = talk.finish();
        effects.puts.push(Record::AaepSession(session));
        effects.news = said;
    }
    effects.news.push(News::Changed { decision: decision.key });
    let entry = entry(place, decision, "allowance_cancelled", env.now).open("cancelled_for", "revoked");
    effects.evidence.push(entry.seal(&mut mint)?);
    Ok(effects)
}

fn cancel_session(talk: &mut Talk, mint: &mut Mint) {
    if talk.is_over() {
        return;
    }
    let to = crate::news::Audience { people: vec![talk.session().person], roles: Vec::new() };
    talk.announce(&to, mint, serde_json::Map::new(), |words| {
        Payload::SessionCancelled(SessionCancelled {
            summaries: Summaries::normal(words(&Notice::Revoked)),
            cancelled_by: CancelledBy::System,
            cancellation_reason: Some("access_ended".into()),
            partial_result: None,
        })
    });
}

pub fn cancelled_for(why: CancelledFor) -> &'static str {
    match why {
        CancelledFor::Withdrawn => "withdrawn",
        CancelledFor::SessionOver => "session_over",
        CancelledFor::Revoked => "revoked",
    }
}
