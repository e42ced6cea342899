//! Effects common to all settlements: events to the audience, and released counters of pending questions.

use super::{ProjectRef, audience, entry, forget_request, open_counts, push_entry, render};
use crate::{
    aaep::{
        event_writer::{AWAITING_INPUT, CALLING_TOOL, EventWriter, THINKING},
        texts::Notice,
    },
    aap::scope_expansion,
    bounded::{Pattern, Tally},
    env::{Env, Mint},
    evidence::DraftEntry,
    mplp::progress::PlanTransition,
    records::{
        AaepSession, Allowance, AllowanceState, Decision, DecisionState, Defaulted, OfPlan, Plan, Question, Record,
    },
    refusal::Refusal,
    signals::Signal,
    step::Effects,
};
use countersign_protocol::{
    aaep::event::{Payload, SessionCompleted, Summaries},
    ids::RowKey,
    mplp::MplpId,
};
use serde_json::json;

/// A decision that has left `pending`, and the input of its effects.
pub(crate) struct Settlement<'a> {
    pub decision: Decision,
    pub notice: Notice,
    /// The extent of an approval.
    pub granted: ApprovedExtent,
    /// The plan of a question about a plan: its status follows (MPLP 4.3).
    pub plan: Option<&'a Plan>,
}

/// The extent of an approval.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum ApprovedExtent {
    /// The rendered request.
    #[default]
    Once,
    /// A standing approval: similar requests within limits.
    Bounded { pattern: Box<Pattern>, tally: Tally, seconds: i64 },
    /// These steps of a plan.
    Steps(Vec<MplpId>),
}

impl Settlement<'_> {
    /// The effects common to all settlements; the caller adds its time window and counts.
    pub(super) fn effects(
        self,
        place: &ProjectRef,
        session: &AaepSession,
        event: impl FnOnce(DraftEntry) -> DraftEntry,
        env: &Env,
        mint: &mut Mint,
    ) -> Result<(Effects, Vec<Allowance>), Refusal> {
        let Self { decision, notice, granted, plan } = self;
        let allowances = match permits_execution(&decision) {
            true => allowances(&decision, &granted, plan, env, mint),
            false => Vec::new(),
        };
        let mut talk = EventWriter::resume(session, env.now);
        announce_settlement(&mut talk, &decision, &notice, !allowances.is_empty(), mint);
        let (session, mut news) = talk.finish();
        news.push(Signal::Changed { decision: decision.key });
        let evidence = vec![event(entry(place, &decision, "decision_settled", env.now)).seal(mint)?];
        let counts = open_counts(&decision.raised_by, place.0, -1, (0, 0), env.now);
        let kept = allowances.iter().any(|allowance| allowance.digest.is_some());
        let removes = forget_request(&decision).filter(|_| !kept).into_iter().collect();
        let mut effects = Effects { removes, counts, evidence, news, ..Effects::default() };
        push_entry(&mut effects, scope_expansion::record(place, &decision, env.now), mint)?;
        if let Some(plan) = plan {
            let mut moving = PlanTransition::of(plan, env.now);
            moving.apply_decision(&decision, &granted)?;
            moving.finish(place, mint, &mut effects)?;
        }
        effects.puts.push(Record::Decision(decision));
        effects.puts.push(Record::AaepSession(session));
        effects.puts.extend(allowances.iter().cloned().map(Record::Allowance));
        Ok((effects, allowances))
    }
}

/// Announces the outcome to the audience and leaves the session in a correct state (AAEP 6.7.2, S4).
pub(super) fn announce_settlement(
    talk: &mut EventWriter,
    decision: &Decision,
    notice: &Notice,
    runs: bool,
    mint: &mut Mint,
) {
    talk.remove_pending(decision.key);
    if talk.is_ended() {
        return;
    }
    let to = audience(decision);
    let mut extension = render::extension(decision);
    extension.insert("settled".into(), json!(settled_as(decision)));
    let next = if runs { CALLING_TOOL } else { THINKING };
    talk.set_state(&to, mint, next, notice, extension);
    let open = talk.pending().len();
    if open > 0 {
        talk.set_state(&to, mint, AWAITING_INPUT, &Notice::StillWaiting { open }, render::extension(decision));
    }
    if !runs {
        close_own_session(talk, decision, mint);
    }
}

/// An implicit session ends with its one question.
pub(super) fn close_own_session(talk: &mut EventWriter, decision: &Decision, mint: &mut Mint) {
    if !talk.session().implicit || talk.is_ended() || !talk.pending().is_empty() || talk.calls_tools() {
        return;
    }
    talk.announce(&audience(decision), mint, render::extension(decision), |words| {
        let summaries = Summaries::normal(words(&Notice::Finished));
        Payload::SessionCompleted(SessionCompleted { summaries, ..SessionCompleted::default() })
    });
}

/// Whether the decision permits an execution.
pub(super) fn permits_execution(decision: &Decision) -> bool {
    matches!(decision.state, DecisionState::Accepted { .. } | DecisionState::Expired { as_if: Defaulted::Accept, .. })
        && matches!(decision.question, Question::Confirmation(_))
        && decision.expansion.is_none()
}

/// The allowances of an approval: one for a request or a standing approval, one per approved plan step.
fn allowances(
    decision: &Decision,
    granted: &ApprovedExtent,
    plan: Option<&Plan>,
    env: &Env,
    mint: &mut Mint,
) -> Vec<Allowance> {
    let one = |key, pattern, tally, seconds| Allowance {
        key,
        version: 1,
        project: decision.project,
        decision: decision.key,
        raised_by: decision.raised_by.clone(),
        point: decision.point,
        digest: Some(decision.digest),
        pattern,
        tally,
        until: env.now.plus_secs(seconds),
        rules: decision.rules,
        lease_s: decision.terms.lease_s,
        decided_by: decider(decision),
        step: None,
        state: AllowanceState::Open,
        queued: None,
    };
    match (granted, plan) {
        (ApprovedExtent::Steps(steps), Some(plan)) => {
            let runs = steps.iter().filter_map(|id| plan.actions.get_key_value(id));
            let runs = runs.filter(|(_, planned)| !planned.asks_again);
            runs.map(|(step, planned)| Allowance {
                digest: None,
                point: planned.point,
                rules: Some(planned.rules),
                lease_s: planned.lease_s,
                step: Some(OfPlan { plan: plan.key, step: step.clone(), tool: planned.tool.clone() }),
                ..one(mint.key(), Some(planned.pattern.clone()), planned.whole_tally(), plan.lasts_s)
            })
            .collect()
        }
        (ApprovedExtent::Bounded { pattern, tally, seconds }, _) => {
            vec![one(mint.key(), Some((**pattern).clone()), tally.clone(), *seconds)]
        }
        _ => vec![one(mint.key(), None, Tally::single_use(), decision.terms.allowance_s)],
    }
}

fn decider(decision: &Decision) -> Option<RowKey> {
    match &decision.state {
        DecisionState::Accepted { by, .. } => Some(by.person),
        _ => None,
    }
}

/// The state's name in documents and events.
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
