//! Cancelling a question: withdrawn by its requester, ended with its session, or revoked with the agent (AAEP 6.8, R-5).

use super::{
    ProjectRef,
    answer::{NotCounted, ProvenPerson, is_entitled_by_policy},
    due::DueView,
    entry, forget_request, forget_request_of, open_counts, push_entry, queue, settle,
};
use crate::{
    aaep::{event_writer::EventWriter, texts::Notice},
    aap::scope_expansion,
    env::{Env, Mint},
    mplp::progress::PlanTransition,
    records::{AaepSession, Allowance, AllowanceState, CancelledFor, Decision, DecisionState, Plan, Record},
    refusal::Refusal,
    signals::Signal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::{
    aaep::event::{CancelledBy, Payload, SessionCancelled, Summaries},
    ids::RowKey,
};
use std::collections::BTreeMap;

/// The requester withdraws its question.
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
        if view.decision.is_locked() {
            // Only an override changes a locked approval (M-27).
            return Err(Refusal::Conflict("the approval is locked and cannot be withdrawn".into()));
        }
        let why = CancelledFor::Withdrawn;
        let state = DecisionState::Cancelled { at: env.now, why, by: None, reason: self.reason.clone() };
        let decision = Decision { state, version: view.decision.version + 1, ..view.decision.clone() };
        let notice = Notice::Withdrawn { reason: self.reason.clone() };
        let record = |entry: crate::evidence::DraftEntry| {
            entry.open("state", "cancelled").open("cancelled_for", "withdrawn").hidden_if("reason", self.reason.clone())
        };
        let settlement =
            settle::Settlement { decision, notice, granted: settle::ApprovedExtent::Once, plan: view.plan.as_ref() };
        let (effects, _) = settlement.effects(&view.place, &view.session, record, env, &mut env.mint())?;
        Ok(Step { answer: (), effects })
    }
}

/// Cancels a decision after another decision brought about the same effect.
pub struct Supersede {
    /// The other decision's id.
    pub by: String,
}

impl Operation for Supersede {
    type View = DueView;
    type Answer = ();
    type Refusal = Refusal;

    fn decide(self, view: &DueView, env: &Env) -> Result<Step<()>, Refusal> {
        if !view.decision.is_pending() {
            return Ok(Step::answer(()));
        }
        let reason = Some(format!("the same was carried out under {}", self.by));
        let why = CancelledFor::Superseded;
        let state = DecisionState::Cancelled { at: env.now, why, by: None, reason: reason.clone() };
        let decision = Decision { state, version: view.decision.version + 1, ..view.decision.clone() };
        let notice = Notice::Withdrawn { reason };
        let record = |entry: crate::evidence::DraftEntry| {
            entry
                .open("state", "cancelled")
                .open("cancelled_for", cancelled_for(why))
                .open("superseded_by", self.by.as_str())
        };
        let settlement =
            settle::Settlement { decision, notice, granted: settle::ApprovedExtent::Once, plan: view.plan.as_ref() };
        let (effects, _) = settlement.effects(&view.place, &view.session, record, env, &mut env.mint())?;
        Ok(Step { answer: (), effects })
    }
}

/// An entitled person cancels the question: neither approval nor rejection (MPLP 3.1).
pub struct CancelQuestion {
    pub by: ProvenPerson,
    pub reason: Option<String>,
    pub by_override: bool,
}

impl Operation for CancelQuestion {
    type View = DueView;
    type Answer = Decision;
    type Refusal = NotCounted;

    fn decide(self, view: &DueView, env: &Env) -> Result<Step<Decision>, NotCounted> {
        let DecisionState::Pending { deadline, .. } = view.decision.state else { return Err(NotCounted::Settled) };
        let (by, decision) = (&self.by, &view.decision);
        let own = by.person == decision.raised_by.person;
        let entitled = is_entitled_by_policy(decision, by.person, &by.roles, false) && (own || by.deciding.approves());
        if !by.may_answer || !entitled {
            return Err(NotCounted::NotEntitled);
        }
        if decision.is_locked() && !(self.by_override && by.deciding.overrides()) {
            return Err(NotCounted::Locked);
        }
        let overridden = self.by_override && decision.is_locked();
        let ballot = by.ballot(env.now, overridden);
        let (why, reason) = (CancelledFor::TakenBack, self.reason.clone());
        let state = DecisionState::Cancelled { at: env.now, why, by: Some(ballot), reason };
        let over = Decision { state, version: decision.version + 1, ..decision.clone() };
        let record = |entry: crate::evidence::DraftEntry| {
            by.record(entry)
                .open("state", "cancelled")
                .open("cancelled_for", cancelled_for(why))
                .open("role", by.deciding.label())
                .open_if("override", overridden.then_some(true))
                .hidden_if("reason", self.reason.clone())
        };
        let notice = Notice::Withdrawn { reason: self.reason.clone() };
        let (granted, plan) = (settle::ApprovedExtent::Once, view.plan.as_ref());
        let settlement = settle::Settlement { decision: over.clone(), notice, granted, plan };
        let (mut effects, _) = settlement.effects(&view.place, &view.session, record, env, &mut env.mint())?;
        effects.before = Some(deadline);
        effects.guards.extend(by.guards.iter().copied());
        Ok(Step { answer: over, effects })
    }
}

/// All open records of an agent. They end with its delegation or session.
#[derive(Clone, Debug, Default)]
pub struct Live {
    pub decisions: Vec<Decision>,
    pub allowances: Vec<Allowance>,
    pub sessions: Vec<AaepSession>,
    pub plans: Vec<Plan>,
    /// Whether the delegation's operator has a webhook secret in this project. Without one the audit entry is its only
    /// notice of an auto-revoke (C-19).
    pub notifies_operator: bool,
}

impl Live {
    /// Those that none of the others has.
    #[must_use]
    pub fn without<'l>(mut self, others: impl Iterator<Item = &'l Self> + Clone) -> Self {
        self.decisions.retain(|own| others.clone().all(|live| live.decisions.iter().all(|other| other.key != own.key)));
        self.allowances
            .retain(|own| others.clone().all(|live| live.allowances.iter().all(|other| other.key != own.key)));
        self.sessions.retain(|own| others.clone().all(|live| live.sessions.iter().all(|other| other.key != own.key)));
        self.plans.retain(|own| others.clone().all(|live| live.plans.iter().all(|other| other.key != own.key)));
        self
    }

    pub fn is_empty(&self) -> bool {
        let Self { decisions, allowances, sessions, plans, notifies_operator: _ } = self;
        decisions.is_empty() && allowances.is_empty() && sessions.is_empty() && plans.is_empty()
    }

    /// Cancels all of them within the step that caused it.
    pub fn cancel(
        &self,
        place: &ProjectRef,
        why: CancelledFor,
        env: &Env,
        mint: &mut Mint,
        effects: &mut Effects,
    ) -> Result<(), Refusal> {
        let mut talks: BTreeMap<RowKey, EventWriter> =
            self.sessions.iter().map(|session| (session.key, EventWriter::resume(session, env.now))).collect();
        for decision in self.decisions.iter().filter(|decision| decision.is_pending()) {
            let state = DecisionState::Cancelled { at: env.now, why, by: None, reason: None };
            let over = Decision { state, version: decision.version + 1, ..decision.clone() };
            if let Some(talk) = talks.get_mut(&decision.asked_in) {
                settle::announce_settlement(talk, &over, &Notice::Revoked, false, mint);
            }
            let entry = entry(place, &over, "decision_settled", env.now).open("state", "cancelled");
            effects.evidence.push(entry.open("cancelled_for", cancelled_for(why)).seal(mint)?);
            push_entry(effects, scope_expansion::record(place, &over, env.now), mint)?;
            effects.counts.extend(open_counts(&over.raised_by, place.0, -1, (0, 0), env.now));
            effects.news.push(Signal::Changed { decision: over.key });
            effects.removes.extend(forget_request(&over));
            effects.puts.push(Record::Decision(over));
        }
        for allowance in self.allowances.iter().filter(|allowance| allowance.is_open()) {
            let state = AllowanceState::Cancelled { at: env.now, why };
            let over = Allowance { state, version: allowance.version + 1, ..allowance.clone() };
            effects.news.push(Signal::Changed { decision: over.decision });
            effects.removes.extend(forget_request_of(over.decision, over.step.is_none()));
            if let Some(queued) = &over.queued {
                effects.evidence.push(queue::cancelled_entry(place, &over, queued, why, env).seal(mint)?);
            }
            effects.puts.push(Record::Allowance(over));
        }
        for plan in &self.plans {
            let mut moving = PlanTransition::of(plan, env.now);
            moving.end_access(cancelled_for(why));
            moving.finish(place, mint, effects)?;
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

fn cancel_session(talk: &mut EventWriter, mint: &mut Mint) {
    if talk.is_ended() {
        return;
    }
    let to = crate::signals::Audience { people: vec![talk.session().person], roles: Vec::new() };
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
        CancelledFor::TakenBack => "taken_back",
        CancelledFor::Superseded => "superseded",
        CancelledFor::Restored => "restored",
        CancelledFor::Undone => "undone",
        CancelledFor::NotSent => "not_sent",
    }
}
