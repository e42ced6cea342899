//! Probing the upstream for an unknown outcome: meaning of responses, conditions to trust them, schedule.
//!
//! *Done* counts at once, since it is final. *Not done* may mean *not yet*: it counts only after the connection was
//! closed and the settling time has passed, and only twice in a row. Every other response is inconclusive; after a
//! bounded number of tries a person reconciles the outcome.

use super::{due::ExecutionView, execution_entry, outcome::OutcomeReport};
use crate::{
    env::Env,
    held::{JsonMember, read_json},
    records::{Execution, ExecutionProbe, ExecutionState, ProbeProgress, Record, Reporter},
    refusal::Refusal,
    signals::Signal,
    step::{Count, Effects, Operation, Step},
};
use countersign_protocol::{
    hash::Digest,
    project::{ProbeAnswer, ProbeItems, ProjectDocument, Route, RouteProbe, Upstream},
    time::UnixMillis,
};

/// Tries after the settling time, at intervals of 2, 4, 8, … seconds: four minutes in all.
const LATE_TRIES: u32 = 8;
const FIRST_DELAY_S: i64 = 2;
/// Exclusive lease of one try. Longer than the timeout of a probe.
pub const TRY_LEASE_S: i64 = 30;
/// The longest settling time.
pub const MAX_SETTLING_S: i64 = 3600;

/// An upstream's response to a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeResponse {
    pub status: u16,
    /// `None` if the body was over the limit, encoded, or truncated.
    pub body: Option<Vec<u8>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeMeaning {
    Done,
    NotDone,
    /// No response, an error, an unreadable body, or an ambiguous response.
    Unclear,
}

impl ProbeMeaning {
    pub fn of(probe: &RouteProbe, response: Option<&ProbeResponse>) -> Self {
        let Some(response) = response else { return Self::Unclear };
        let body = response.body.as_deref().and_then(|bytes| read_json(bytes).ok());
        let fits = |answer: &ProbeAnswer| matches_answer(answer, response.status, body.as_ref());
        match (fits(&probe.done), probe.not_done.as_ref().is_some_and(fits)) {
            (true, false) => Self::Done,
            (false, true) => Self::NotDone,
            _ => Self::Unclear,
        }
    }
}

/// Whether a response is as the owner describes it.
pub(crate) fn matches_response(answer: &ProbeAnswer, response: &ProbeResponse) -> bool {
    let body = response.body.as_deref().and_then(|bytes| read_json(bytes).ok());
    matches_answer(answer, response.status, body.as_ref())
}

fn matches_answer(answer: &ProbeAnswer, status: u16, body: Option<&JsonMember>) -> bool {
    if !answer.statuses.contains(&status) {
        return false;
    }
    let Some(pointer) = &answer.member else { return true };
    let Some(member) = body.and_then(|body| member_at(body, pointer)) else { return false };
    match (&answer.equals, answer.items, member) {
        (Some(text), None, JsonMember::Text(own)) => own == text,
        (Some(text), None, JsonMember::Number(own)) => own == text,
        (Some(text), None, JsonMember::Bool(own)) => own.to_string() == *text,
        (None, Some(items), JsonMember::List(list)) => list.is_empty() == (items == ProbeItems::None),
        (None, None, member) => *member != JsonMember::Null,
        _ => false,
    }
}

fn member_at<'a>(body: &'a JsonMember, pointer: &str) -> Option<&'a JsonMember> {
    let mut steps = pointer.split('/');
    // A JSON pointer starts with a slash.
    steps.next().filter(|before| before.is_empty())?;
    steps.try_fold(body, |member, step| member.get(&step.replace("~1", "/").replace("~0", "~")))
}

/// Digest of the probe's rules and of its upstream.
pub fn probe_rules(probe: &RouteProbe, upstream: &Upstream) -> Digest {
    let said = serde_json::json!({ "probe": probe, "upstream": upstream.id, "url": upstream.url });
    Digest::of(said.to_string().as_bytes())
}

impl ExecutionProbe {
    /// The probe of a new claim. `sealed` is the sealed path, with the values of its request.
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

    /// The probe and its upstream, if unchanged since the claim. A different service, or different rules for its responses,
    /// cannot tell the outcome of this execution.
    pub fn unchanged_in<'a>(&self, document: &'a ProjectDocument) -> Option<(&'a RouteProbe, &'a Upstream)> {
        let route = document.routes.iter().find(|route| route.id == self.route)?;
        let (probe, upstream) = (route.probe.as_ref()?, document.upstream_of(route)?);
        (probe_rules(probe, upstream) == self.rules).then_some((probe, upstream))
    }

    /// Starts probing: the outcome is unknown from now on, and the first try is due at once.
    pub(super) fn begin(&self, closed_at: UnixMillis, now: UnixMillis) -> Self {
        let progress = ProbeProgress { closed_at, due: now, early: 0, late: 0, not_done: false };
        Self { progress: Some(progress), ..self.clone() }
    }

    /// End of probing; `None` if probing has not started.
    pub fn probed_until(&self) -> Option<UnixMillis> {
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

    /// Starts a try, counted before anything is sent so that a crash cannot repeat it for ever. `None` when no tries are
    /// left.
    fn begin_try(&self, progress: &ProbeProgress, now: UnixMillis) -> Option<Self> {
        let due = now.plus_secs(TRY_LEASE_S);
        match now < self.settled_at(progress) {
            true => Some(self.with(ProbeProgress { due, early: progress.early + 1, ..progress.clone() })),
            false if progress.late >= LATE_TRIES => None,
            false => Some(self.with(ProbeProgress { due, late: progress.late + 1, ..progress.clone() })),
        }
    }

    /// The conclusion from the response to a try started at `begun_at`.
    fn conclude(&self, meaning: ProbeMeaning, begun_at: UnixMillis, now: UnixMillis) -> Judgement {
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

    /// The next try: intervals double, and start over after the settling time.
    fn next(&self, progress: &ProbeProgress, now: UnixMillis) -> Option<UnixMillis> {
        let settled_at = self.settled_at(progress);
        match progress.late {
            0 => Some(now.plus_secs(delay_s(progress.early)).min(settled_at).max(now)),
            late if late < LATE_TRIES => Some(now.plus_secs(delay_s(late))),
            _ => None,
        }
    }
}

/// The interval after this many tries.
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

/// Starts a due try. The row's lease ensures that only one node makes it.
pub struct ProbeDue;

/// A started try, to be finished by [`ProbeAnswered`].
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
        let Some((probe, progress)) = unknown_probe(&view.execution) else { return Ok(Step::answer(None)) };
        if env.now < progress.due {
            return Ok(Step::answer(None));
        }
        let Some(tried) = probe.begin_try(progress, env.now) else {
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

/// The response to a try.
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
        match probe.conclude(self.meaning, *begun_at, env.now) {
            // `OutcomeReport` does not overwrite a person's reconciliation; it records the conflict.
            Judgement::Done => OutcomeReport::Committed.report(Reporter::Probe, view, env),
            Judgement::NotDone if !is_unknown || is_latest => {
                let why = Some("the upstream reports that it was not carried out".to_owned());
                let mut step = OutcomeReport::Failed { why, refused: true }.report(Reporter::Probe, view, env)?;
                if is_unknown {
                    step.effects.counts.extend(probe.gives_back.iter().map(release_count));
                }
                Ok(step)
            }
            Judgement::AsksAgain(progress) if is_unknown && is_latest => {
                let asks = with_probe(view, Some(probe.with(progress)));
                let puts = vec![Record::Execution(asks.clone())];
                Ok(Step { answer: asks, effects: Effects { puts, ..Effects::default() } })
            }
            Judgement::GivesUp if is_unknown && is_latest => give_up(view, env),
            // Another node probes now, or the outcome is known.
            _ => unchanged(),
        }
    }
}

/// Ends probing without a result; a person reconciles the outcome, as without a probe.
pub struct ProbeGivenUp;

impl Operation for ProbeGivenUp {
    type View = ExecutionView;
    type Answer = Execution;
    type Refusal = Refusal;

    fn decide(self, view: &ExecutionView, env: &Env) -> Result<Step<Execution>, Refusal> {
        match unknown_probe(&view.execution) {
            Some(_) => give_up(view, env),
            None => Ok(Step::answer(view.execution.clone())),
        }
    }
}

fn give_up(view: &ExecutionView, env: &Env) -> Result<Step<Execution>, Refusal> {
    let tries = unknown_probe(&view.execution).map_or(0, |(_, progress)| progress.early + progress.late);
    let unasked = with_probe(view, None);
    let entry = execution_entry(view, "execution_probe_ended", env.now).open("tries", tries).open("outcome", "unknown");
    let effects = Effects {
        puts: vec![Record::Execution(unasked.clone())],
        evidence: vec![entry.seal(&mut env.mint())?],
        news: vec![Signal::Changed { decision: view.decision.key }],
        ..Effects::default()
    };
    Ok(Step { answer: unasked, effects })
}

/// The probe of an execution with an unknown outcome.
fn unknown_probe(execution: &Execution) -> Option<(&ExecutionProbe, &ProbeProgress)> {
    let unknown = matches!(execution.state, ExecutionState::Unknown { .. });
    let probe = execution.probe.as_deref().filter(|_| unknown)?;
    Some((probe, probe.progress.as_ref()?))
}

fn with_probe(view: &ExecutionView, probe: Option<ExecutionProbe>) -> Execution {
    Execution { probe: probe.map(Box::new), version: view.execution.version + 1, ..view.execution.clone() }
}

fn release_count((key, until): &(String, UnixMillis)) -> Count {
    Count { name: "given_back", key: key.clone(), by: -1, limit: i64::MAX, until: *until }
}

#[cfg(test)]
mod tests;
