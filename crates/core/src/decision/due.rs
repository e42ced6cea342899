//! Transitions by time: countdown, deadline, expiry of an unused approval, end of a lease.

use super::{ProjectRef, audience, entry, execution_entry, forget_request_of, render, settle};
use crate::{
    aaep::{
        event_writer::{CALLING_TOOL, EventWriter, THINKING},
        texts::Notice,
    },
    env::Env,
    evidence::DraftEntry,
    mplp::progress::{self, PlanTransition},
    records::{
        AaepSession, Allowance, AllowanceState, Decision, DecisionState, Defaulted, Execution, ExecutionState, Plan,
        Question, Record,
    },
    refusal::Refusal,
    signals::Signal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::{
    aaep::event::{Payload, Summaries, ToolCompleted, ToolStatus, YesNo},
    time::UnixMillis,
};

/// Grace period of an acceptance by default. After it, the default is a rejection.
const ON_TIME_S: i64 = 5;
/// Shorter questions have no countdown (AAEP 6.4.3).
const COUNTED_DOWN_S: i64 = 60;

/// The next countdown event: at half of the time, at a tenth left, at the deadline.
pub fn next(asked_at: UnixMillis, deadline: UnixMillis, after: UnixMillis) -> UnixMillis {
    let whole = deadline.millis_since(asked_at);
    if whole <= COUNTED_DOWN_S * 1000 {
        return deadline;
    }
    let moments = [deadline.plus_millis(-whole / 2), deadline.plus_millis(-whole / 10)];
    moments.into_iter().find(|moment| *moment > after).unwrap_or(deadline)
}

/// A timer of a question has fired.
pub struct QuestionDue {
    /// Start of this node's service. A deadline that passed earlier was not watched, so nothing is accepted by default.
    pub serving_since: UnixMillis,
    /// Settles the question before its deadline because no approver is present. Opt-in, and never an approval.
    pub nobody_there: bool,
}

pub struct DueView {
    pub place: ProjectRef,
    pub decision: Decision,
    pub session: AaepSession,
    /// The plan of a question about a plan.
    pub plan: Option<Plan>,
}

impl Operation for QuestionDue {
    type View = DueView;
    type Answer = ();
    type Refusal = Refusal;

    fn decide(self, view: &DueView, env: &Env) -> Result<Step<()>, Refusal> {
        let DecisionState::Pending { deadline, due, .. } = view.decision.state else { return Ok(Step::answer(())) };
        if self.nobody_there || env.now >= deadline {
            return self.expire(view, deadline, env);
        }
        if env.now < due {
            return Ok(Step::answer(()));
        }
        count_down(view, deadline, env)
    }
}

impl QuestionDue {
    fn expire(&self, view: &DueView, deadline: UnixMillis, env: &Env) -> Result<Step<()>, Refusal> {
        let (as_if, notice) = self.default_outcome(&view.decision, deadline, env.now);
        let state = DecisionState::Expired { at: env.now, as_if: as_if.clone() };
        let decision = Decision { state, version: view.decision.version + 1, ..view.decision.clone() };
        let settlement =
            settle::Settlement { decision, notice, granted: settle::ApprovedExtent::Once, plan: view.plan.as_ref() };
        let record = |entry: DraftEntry| record_default(entry, &as_if);
        let (mut effects, _) = settlement.effects(&view.place, &view.session, record, env, &mut env.mint())?;
        if !self.nobody_there {
            effects.not_before = Some(deadline);
        }
        if as_if == Defaulted::Accept {
            // The store's clock at commit decides, so a slow step cannot accept late.
            effects.before = Some(deadline.plus_secs(ON_TIME_S).plus_millis(1));
        }
        Ok(Step { answer: (), effects })
    }

    fn default_outcome(&self, decision: &Decision, deadline: UnixMillis, now: UnixMillis) -> (Defaulted, Notice) {
        let on_time = deadline >= self.serving_since && now <= deadline.plus_secs(ON_TIME_S);
        match &decision.question {
            Question::Clarification(asked) => match &asked.default_response {
                Some(response) => (Defaulted::Response { response: response.clone() }, Notice::AnsweredByDefault),
                None => (Defaulted::Unavailable, Notice::Unanswered),
            },
            Question::Confirmation(_) if self.nobody_there => (Defaulted::Reject, Notice::NobodyThere),
            Question::Confirmation(_) if decision.terms.default == YesNo::Accept && on_time => {
                (Defaulted::Accept, Notice::AcceptedByDefault)
            }
            Question::Confirmation(_) => (Defaulted::Reject, Notice::TimeOver),
        }
    }
}

/// The default of a question without a present approver: never an approval.
pub(super) fn default_without_approver(
    decision: &Decision,
    deadline: UnixMillis,
    now: UnixMillis,
) -> (Defaulted, Notice) {
    QuestionDue { serving_since: now, nobody_there: true }.default_outcome(decision, deadline, now)
}

/// Records an unanswered question as expired, never as rejected, with its default.
pub(super) fn record_default(entry: DraftEntry, as_if: &Defaulted) -> DraftEntry {
    let entry = entry.open("state", "expired").open("answered", false);
    match as_if {
        Defaulted::Accept => entry.open("expired_as", "accept"),
        Defaulted::Reject => entry.open("expired_as", "reject"),
        Defaulted::Response { response } => {
            entry.open("expired_as", "default_response").hidden("response", response.as_str())
        }
        Defaulted::Unavailable => entry.open("expired_as", "unavailable"),
    }
}

/// Announces the time left and schedules the next announcement.
fn count_down(view: &DueView, deadline: UnixMillis, env: &Env) -> Result<Step<()>, Refusal> {
    let decision = &view.decision;
    let left_ms = deadline.millis_since(env.now);
    let whole_ms = deadline.millis_since(decision.asked_at).max(1);
    let mut talk = EventWriter::resume(&view.session, env.now);
    let notice = Notice::TimeLeft { seconds: left_ms / 1000 };
    let over = 100 - left_ms.saturating_mul(100) / whole_ms;
    talk.announce_time_left(&audience(decision), &mut env.mint(), &notice, over, left_ms, render::extension(decision));
    let (session, news) = talk.finish();
    let DecisionState::Pending { ballots, .. } = &decision.state else { return Err(Refusal::Internal) };
    let due = next(decision.asked_at, deadline, env.now);
    let state = DecisionState::Pending { deadline, due, ballots: ballots.clone() };
    let told = Decision { state, version: decision.version + 1, ..decision.clone() };
    let puts = vec![Record::Decision(told), Record::AaepSession(session)];
    Ok(Step { answer: (), effects: Effects { puts, news, ..Effects::default() } })
}

/// An allowance was not claimed in time.
pub struct AllowanceDue;

pub struct AllowanceDueView {
    pub place: ProjectRef,
    pub decision: Decision,
    pub session: AaepSession,
    pub allowance: Allowance,
    /// The plan of a plan step.
    pub plan: Option<Plan>,
}

impl Operation for AllowanceDue {
    type View = AllowanceDueView;
    type Answer = ();
    type Refusal = Refusal;

    fn decide(self, view: &AllowanceDueView, env: &Env) -> Result<Step<()>, Refusal> {
        let allowance = &view.allowance;
        if !allowance.is_open() || env.now < allowance.until {
            return Ok(Step::answer(()));
        }
        let state = AllowanceState::Lapsed { at: env.now };
        let lapsed = Allowance { state, version: allowance.version + 1, ..allowance.clone() };
        let mut effects = view.end_allowance(lapsed, &Notice::NotCarriedOut, |entry| entry, env)?;
        effects.not_before = Some(allowance.until);
        Ok(Step { answer: (), effects })
    }
}

/// Lapses an allowance after an administrator accepted a changed clock: its age is unknown.
pub struct LapseWithClock;

impl Operation for LapseWithClock {
    type View = AllowanceDueView;
    type Answer = bool;
    type Refusal = Refusal;

    fn decide(self, view: &AllowanceDueView, env: &Env) -> Result<Step<bool>, Refusal> {
        if !view.allowance.is_open() {
            return Ok(Step::answer(false));
        }
        let state = AllowanceState::Lapsed { at: env.now };
        let lapsed = Allowance { state, version: view.allowance.version + 1, ..view.allowance.clone() };
        let record = |entry: DraftEntry| entry.open("lapsed_for", "clock_accepted");
        let effects = view.end_allowance(lapsed, &Notice::NotCarriedOut, record, env)?;
        Ok(Step { answer: true, effects })
    }
}

impl AllowanceDueView {
    /// All effects of an allowance that ends unclaimed.
    pub(super) fn end_allowance(
        &self,
        over: Allowance,
        notice: &Notice,
        record: impl FnOnce(DraftEntry) -> DraftEntry,
        env: &Env,
    ) -> Result<Effects, Refusal> {
        let mut mint = env.mint();
        let (word, lapsed) = match over.state {
            AllowanceState::Lapsed { .. } => ("allowance_lapsed", true),
            _ => ("allowance_cancelled", false),
        };
        let entry = entry(&self.place, &self.decision, word, env.now)
            .open_if("step_id", over.step.as_ref().map(|step| step.step.as_str()));
        let mut effects = Effects {
            removes: forget_request_of(over.decision, over.step.is_none()).into_iter().collect(),
            evidence: vec![record(entry).seal(&mut mint)?],
            news: vec![Signal::Changed { decision: over.decision }],
            ..Effects::default()
        };
        let mut goes_on = false;
        if let (Some(plan), Some(step)) = (&self.plan, &over.step) {
            let mut moving = PlanTransition::of(plan, env.now);
            moving.end_allowance(&step.step, lapsed);
            goes_on = moving.is_running();
            moving.finish(&self.place, &mut mint, &mut effects)?;
        }
        effects.puts.push(Record::Allowance(over));
        if !goes_on {
            leave_tool_state(&self.decision, &self.session, notice, env, &mut mint, &mut effects);
        }
        Ok(effects)
    }
}

/// Ends the `calling_tool` state of the session after its approval has ended.
pub(crate) fn leave_tool_state(
    decision: &Decision,
    session: &AaepSession,
    notice: &Notice,
    env: &Env,
    mint: &mut crate::env::Mint,
    effects: &mut Effects,
) {
    let mut talk = EventWriter::resume(session, env.now);
    if talk.is_ended() {
        return;
    }
    leave_calling_tool(&mut talk, decision, notice, mint);
    settle::close_own_session(&mut talk, decision, mint);
    let (session, said) = talk.finish();
    effects.puts.push(Record::AaepSession(session));
    effects.news.extend(said);
}

/// Leaves `calling_tool`, if that is the current state and no call is left.
pub(super) fn leave_calling_tool(
    talk: &mut EventWriter,
    decision: &Decision,
    notice: &Notice,
    mint: &mut crate::env::Mint,
) {
    if talk.state() == CALLING_TOOL && !talk.calls_tools() {
        talk.set_state(&audience(decision), mint, THINKING, notice, render::extension(decision));
    }
}

/// The lease of a claim has lapsed: its outcome is unknown.
pub struct LeaseDue;

pub struct ExecutionView {
    pub place: ProjectRef,
    pub decision: Decision,
    pub session: AaepSession,
    pub execution: Execution,
    /// The claimed allowance.
    pub allowance: Option<Allowance>,
    /// The plan of a plan step.
    pub plan: Option<Plan>,
}

impl ExecutionView {
    /// Whether the session stays open for further executions.
    fn stays_open(&self, plan: Option<&Plan>) -> bool {
        match plan {
            Some(plan) => progress::is_running(plan),
            None => self.allowance.as_ref().is_some_and(|allowance| allowance.is_bounded() && allowance.is_open()),
        }
    }
}

impl Operation for LeaseDue {
    type View = ExecutionView;
    type Answer = ();
    type Refusal = Refusal;

    fn decide(self, view: &ExecutionView, env: &Env) -> Result<Step<()>, Refusal> {
        let ExecutionState::Claimed { lease_until } = view.execution.state else { return Ok(Step::answer(())) };
        if env.now < lease_until {
            return Ok(Step::answer(()));
        }
        let step = mark_unknown(view, closed_by(&view.execution).max(env.now), env)?;
        let effects = Effects { not_before: Some(lease_until), ..step.effects };
        Ok(Step { answer: (), effects })
    }
}

/// Ends a claim made before the clock was set back: its lease would never lapse.
pub struct EndLeaseWithClock;

impl Operation for EndLeaseWithClock {
    type View = ExecutionView;
    type Answer = bool;
    type Refusal = Refusal;

    fn decide(self, view: &ExecutionView, env: &Env) -> Result<Step<bool>, Refusal> {
        match view.execution.state {
            ExecutionState::Claimed { .. } => {
                Ok(Step { answer: true, effects: mark_unknown(view, closed_by(&view.execution), env)?.effects })
            }
            _ => Ok(Step::answer(false)),
        }
    }
}

/// Latest time at which an unreported call's connection was closed. A call is sent within its first lease, and the
/// upstream timeout bounds the response.
fn closed_by(execution: &Execution) -> UnixMillis {
    let within = execution.probe.as_ref().map_or(0, |probe| probe.answer_within_s);
    execution.claimed_at.plus_secs(execution.lease_s).plus_secs(within)
}

/// Marks the outcome as unknown. The connection is closed at `closed_at`.
pub(super) fn mark_unknown(view: &ExecutionView, closed_at: UnixMillis, env: &Env) -> Result<Step<Execution>, Refusal> {
    let mut mint = env.mint();
    let state = ExecutionState::Unknown { since: env.now };
    let probe = view.execution.probe.as_ref().map(|probe| Box::new(probe.begin(closed_at, env.now)));
    let unknown = Execution { state, probe, version: view.execution.version + 1, ..view.execution.clone() };
    let mut puts = vec![Record::Execution(unknown.clone())];
    let mut news = vec![Signal::Changed { decision: view.decision.key }];
    let goes_on = view.stays_open(view.plan.as_ref());
    announce_completion(view, ToolStatus::Timeout, None, goes_on, env, &mut mint, &mut puts, &mut news);
    let evidence = vec![execution_entry(view, "execution_unknown", env.now).seal(&mut mint)?];
    Ok(Step { answer: unknown, effects: Effects { puts, news, evidence, ..Effects::default() } })
}

/// Announces the end of a tool call, unless the session is over.
#[expect(clippy::too_many_arguments, reason = "what it says, and the three places where it is said")]
pub(super) fn announce_completion(
    view: &ExecutionView,
    status: ToolStatus,
    error_message: Option<String>,
    goes_on: bool,
    env: &Env,
    mint: &mut crate::env::Mint,
    puts: &mut Vec<Record>,
    news: &mut Vec<Signal>,
) {
    let mut talk = EventWriter::resume(&view.session, env.now);
    let tool = tool_of(&view.decision, &view.execution);
    if talk.is_ended() || !talk.tool_is_open(&view.execution.call_id) {
        return;
    }
    let notice = match status {
        ToolStatus::Success => Notice::Done { tool: tool.clone() },
        ToolStatus::Error => Notice::Failed { tool: tool.clone() },
        ToolStatus::Timeout => Notice::OutcomeUnknown { tool: tool.clone() },
    };
    let to = audience(&view.decision);
    talk.announce(&to, mint, render::extension(&view.decision), |words| {
        Payload::ToolCompleted(ToolCompleted {
            tool: tool.clone(),
            status,
            summaries: Summaries::normal(words(&notice)),
            tool_call_id: Some(view.execution.call_id.clone()),
            duration_ms: Some(env.now.millis_since(view.execution.claimed_at).clamp(0, 86_400_000)),
            error_message: error_message.clone(),
        })
    });
    leave_calling_tool(&mut talk, &view.decision, &notice, mint);
    if !goes_on {
        settle::close_own_session(&mut talk, &view.decision, mint);
    }
    let (session, said) = talk.finish();
    puts.push(Record::AaepSession(session));
    news.extend(said);
}

/// The announced tool name of an execution.
pub(super) fn tool_of(decision: &Decision, execution: &Execution) -> String {
    match (&decision.question, &execution.step) {
        (_, Some(step)) => step.tool.clone(),
        (Question::Confirmation(asked), None) => asked.tool.clone(),
        (Question::Clarification(_), None) => String::new(),
    }
}
