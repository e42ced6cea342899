//! Asking the upstream what nobody knows: what its answers mean, when they may be believed, and when to ask next.
//!
//! *Done* counts at once: what has happened stays so. *Not done* may only mean *not yet*: it counts from the end of the
//! settling time on, after the connection was closed, and twice in a row. Everything else says nothing; after a bounded
//! number of tries a person finds out.

use super::{due::ExecutionView, entry, outcome::Report};
use crate::{
    env::Env,
    held::{Member, read_json},
    news::News,
    records::{Execution, ExecutionProbe, ExecutionState, ProbeProgress, Record, Reporter},
    refusal::Refusal,
    step::{Count, Effects, Operation, Step},
};
use countersign_protocol::{
    hash::Digest,
    project::{ProbeAnswer, ProbeItems, ProjectDocument, Route, RouteProbe, Upstream},
    time::UnixMillis,
};

/// Tries from the end of the settling time on. Between them are 2, 4, 8, … seconds: four minutes in all.
const LATE_TRIES: u32 = 8;
const FIRST_DELAY_S: i64 = 2;
/// How long a try keeps others from asking. Longer than the upstream has to answer.
pub const TRY_LEASE_S: i64 = 30;
/// The longest settling time.
pub const MAX_SETTLING_S: i64 = 3600;

/// What an upstream answered to a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeResponse {
    pub status: u16,
    /// None if it was longer than the limit, encoded, or broke off.
    pub body: Option<Vec<u8>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeMeaning {
    Done,
    NotDone,
    /// No answer, an error, an unreadable body, or an answer that means both.
    Unclear,
}

impl ProbeMeaning {
    pub fn of(probe: &RouteProbe, response: Option<&ProbeResponse>) -> Self {
        let Some(response) = response else { return Self::Unclear };
        let body = response.body.as_deref().and_then(|bytes| read_json(bytes).ok());
        let fits = |answer: &ProbeAnswer| fits(answer, response.status, body.as_ref());
        match (fits(&probe.done), probe.not_done.as_ref().is_some_and(fits)) {
            (true, false) => Self::Done,
            (false, true) => Self::NotDone,
            _ => Self::Unclear,
        }
    }
}

fn fits(answer: &ProbeAnswer, status: u16, body: Option<&Member>) -> bool {
    if !answer.statuses.contains(&status) {
        return false;
    }
    let Some(pointer) = &answer.member else { return true };
    let Some(member) = body.and_then(|body| at(body, pointer)) else { return false };
    match (&answer.equals, answer.items, member) {
        (Some(text), None, Member::Text(own)) => own == text,
        (Some(text), None, Member::Number(own)) => own == text,
        (Some(text), None, Member::Bool(own)) => own.to_string() == *text,
        (None, Some(items), Member::List(list)) => list.is_empty() == (items == ProbeItems::None),
        (None, None, member) => *member != Member::Null,
        _ => false,
    }
}

/// The member at a JSON pointer.
fn at<'a>(body: &'a Member, pointer: &str) -> Option<&'a Member> {
    let mut steps = pointer.split('/');
    // What stands before the first slash is nothing, or it is no pointer.
    steps.next().filter(|before| before.is_empty())?;
    steps.try_fold(body, |member, step| member.get(&step.replace("~1", "/").replace("~0", "~")))
}

/// A fingerprint of what an answer to this route's probe means, and of whom it comes from.
pub fn probe_rules(probe: &RouteProbe, upstream: &Upstream) -> Digest {
    let said = serde_json::json!({ "probe": probe, "upstream": upstream.id, "url": upstream.url });
    Digest::of(said.to_string().as_bytes())
}

impl ExecutionProbe {
    /// For an execution that is being claimed; `sealed` is the path that was filled in from its request.
    pub fn new(route: &Route, probe: &RouteProbe, upstream: &Upstream, sealed: String) -> Self {
        let within = route.upstream_timeout_seconds.or(upstream.timeout_seconds).unwrap_or(Upstream::TIMEOUT_SECONDS);
        Self {
            sealed,
            route: route.id.clone(),
            rules: probe_rules(probe, upstream),
            settling_s: probe.settling_seconds.unwrap_or(0),
            answer_within_s: within,
            gives_back: Vec::new(),
            progress: None,
        }
    }

    /// The probe and its upstream, if both are still those of the claim: another service, or another reading of its
    /// answers, says nothing about this execution.
    pub fn still_means<'a>(&self, document: &'a ProjectDocument) -> Option<(&'a RouteProbe, &'a Upstream)> {
        let route = document.routes.iter().find(|route| route.id == self.route)?;
        let (probe, upstream) = (route.probe.as_ref()?, document.upstream_of(route)?);
        (probe_rules(probe, upstream) == self.rules).then_some((probe, upstream))
    }

    /// The outcome is unknown from now on: the upstream is asked at once.
    pub(super) fn begins(&self, closed_at: UnixMillis, now: UnixMillis) -> Self {
        let progress = ProbeProgress { closed_at, due: now, early: 0, late: 0, not_done: false };
        Self { progress: Some(progress), ..self.clone() }
    }

    /// Until when the upstream is asked; none unless it is.
    pub fn asked_until(&self) -> Option<UnixMillis> {
        let progress = self.progress.as_ref()?;
        let left: i64 = (progress.late + 1..LATE_TRIES).map(delay_s).sum();
        Some(progress.due.max(self.settled_at(progress)).plus_secs(left))
    }

    fn settled_at(&self, progress: &ProbeProgress) -> UnixMillis {
        progress.closed_at.plus_secs(self.settling_s)
    }

    fn with(&self, progress: ProbeProgress) -> Self {
        Self { progress: Some(progress), ..self.clone() }
    }

    /// A try that begins now: counted before anything is sent, so that a crash cannot repeat it for ever. None when all
    /// were made.
    fn tries(&self, progress: &ProbeProgress, now: UnixMillis) -> Option<Self> {
        let due = now.plus_secs(TRY_LEASE_S);
        match now < self.settled_at(progress) {
            true => Some(self.with(ProbeProgress { due, early: progress.early + 1, ..progress.clone() })),
            false if progress.late >= LATE_TRIES => None,
            false => Some(self.with(ProbeProgress { due, late: progress.late + 1, ..progress.clone() })),
        }
    }

    /// What follows from the answer to a try that began at `begun_at`.
    fn judged(&self, meaning: ProbeMeaning, begun_at: UnixMillis, now: UnixMillis) -> Judgement {
        let Some(progress) = &self.progress else { return Judgement::GivesUp };
        let believed = meaning == ProbeMeaning::NotDone && begun_at >= self.settled_at(progress);
        match meaning {
            ProbeMeaning::Done => return Judgement::Done,
            ProbeMeaning::NotDone if believed && progress.not_done => return Judgement::NotDone,
            _ => {}
        }
        match self.next(progress, now) {
            Some(due) => Judgement::AsksAgain(ProbeProgress { due, not_done: believed, ..progress.clone() }),
            None => Judgement::GivesUp,
        }
    }

    /// When to ask next: after twice as long each time, and anew from the end of the settling time on.
    fn next(&self, progress: &ProbeProgress, now: UnixMillis) -> Option<UnixMillis> {
        let settled_at = self.settled_at(progress);
        match progress.late {
            0 => Some(now.plus_secs(delay_s(progress.early)).min(settled_at).max(now)),
            late if late < LATE_TRIES => Some(now.plus_secs(delay_s(late))),
            _ => None,
        }
    }
}

/// Between a try and the next, of which there were so many.
fn delay_s(tries: u32) -> i64 {
    FIRST_DELAY_S << tries.saturating_sub(1).min(20)
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Judgement {
    Done,
    NotDone,
    AsksAgain(ProbeProgress),
    GivesUp,
}

/// A try of the probe that is due. One node makes it: the row says that it is being made.
pub struct ProbeDue;

/// A try that was begun, and is answered by [`ProbeAnswered`].
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeTry {
    pub probe: ExecutionProbe,
    pub begun_at: UnixMillis,
}

impl Operation for ProbeDue {
    type View = ExecutionView;
    type Answer = Option<ProbeTry>;
    type Refusal = Refusal;

    fn decide(self, view: &ExecutionView, env: &Env) -> Result<Step<Option<ProbeTry>>, Refusal> {
        let Some((probe, progress)) = asked(&view.execution) else { return Ok(Step::answer(None)) };
        if env.now < progress.due {
            return Ok(Step::answer(None));
        }
        let Some(tried) = probe.tries(progress, env.now) else {
            return Ok(Step { answer: None, effects: give_up(view, env)?.effects });
        };
        let effects = Effects {
            puts: vec![Record::Execution(with_probe(view, Some(tried.clone())))],
            not_before: Some(progress.due),
            ..Effects::default()
        };
        Ok(Step { answer: Some(ProbeTry { probe: tried, begun_at: env.now }), effects })
    }
}

/// The answer to a try.
pub struct ProbeAnswered {
    pub tried: ProbeTry,
    pub meaning: ProbeMeaning,
}

impl Operation for ProbeAnswered {
    type View = ExecutionView;
    type Answer = Execution;
    type Refusal = Refusal;

    fn decide(self, view: &ExecutionView, env: &Env) -> Result<Step<Execution>, Refusal> {
        let ProbeTry { probe, begun_at } = &self.tried;
        let is_unknown = matches!(view.execution.state, ExecutionState::Unknown { .. });
        let is_latest = view.execution.probe.as_deref() == Some(probe);
        let unchanged = || Ok(Step::answer(view.execution.clone()));
        match probe.judged(self.meaning, *begun_at, env.now) {
            // What a person said meanwhile is not overwritten: `Report` records the conflict.
            Judgement::Done => Report::Committed.told_by(Reporter::Probe, view, env),
            Judgement::NotDone if !is_unknown || is_latest => {
                let why = Some("the service says that it was not carried out".to_owned());
                let mut step = Report::Failed { why, refused: true }.told_by(Reporter::Probe, view, env)?;
                if is_unknown {
                    step.effects.counts.extend(probe.gives_back.iter().map(give_back));
                }
                Ok(step)
            }
            Judgement::AsksAgain(progress) if is_unknown && is_latest => {
                let asks = with_probe(view, Some(probe.with(progress)));
                let puts = vec![Record::Execution(asks.clone())];
                Ok(Step { answer: asks, effects: Effects { puts, ..Effects::default() } })
            }
            Judgement::GivesUp if is_unknown && is_latest => give_up(view, env),
            // Another node asks by now, or nobody needs to.
            _ => unchanged(),
        }
    }
}

/// Ends the asking without a result: people find out, as without a probe.
pub struct ProbeGivenUp;

impl Operation for ProbeGivenUp {
    type View = ExecutionView;
    type Answer = Execution;
    type Refusal = Refusal;

    fn decide(self, view: &ExecutionView, env: &Env) -> Result<Step<Execution>, Refusal> {
        match asked(&view.execution) {
            Some(_) => give_up(view, env),
            None => Ok(Step::answer(view.execution.clone())),
        }
    }
}

fn give_up(view: &ExecutionView, env: &Env) -> Result<Step<Execution>, Refusal> {
    let tries = asked(&view.execution).map_or(0, |(_, progress)| progress.early + progress.late);
    let unasked = with_probe(view, None);
    let entry = entry(&view.place, &view.decision, "execution_probe_ended", env.now)
        .open("execution_id", view.execution.id.as_str())
        .open("tries", tries)
        .open("outcome", "unknown");
    let effects = Effects {
        puts: vec![Record::Execution(unasked.clone())],
        evidence: vec![entry.seal(&mut env.mint())?],
        news: vec![News::Changed { decision: view.decision.key }],
        ..Effects::default()
    };
    Ok(Step { answer: unasked, effects })
}

/// The probe of an execution whose outcome nobody knows.
fn asked(execution: &Execution) -> Option<(&ExecutionProbe, &ProbeProgress)> {
    let unknown = matches!(execution.state, ExecutionState::Unknown { .. });
    let probe = execution.probe.as_deref().filter(|_| unknown)?;
    Some((probe, probe.progress.as_ref()?))
}

fn with_probe(view: &ExecutionView, probe: Option<ExecutionProbe>) -> Execution {
    Execution { probe: probe.map(Box::new), version: view.execution.version + 1, ..view.execution.clone() }
}

fn give_back((key, until): &(String, UnixMillis)) -> Count {
    Count { key: key.clone(), by: -1, limit: i64::MAX, until: *until }
}

#[cfg(test)]
mod tests;
