//! Claiming an allowance: once, for exactly the approved request, durable before execution.

use super::{
    ProjectRef, audience,
    due::tool_of,
    entry, forget_request,
    grant::AskedFor,
    queue::queued_already,
    raise::{action_in_progress, effect_claimed},
    render,
    settle::{permits_execution, settled_as},
    undo_call::PlannedUndo,
};
use crate::{
    aaep::{
        event_writer::{CALLING_TOOL, EventWriter},
        texts::Notice,
    },
    bounded::AmountUse,
    env::{Env, Mint},
    evidence::DraftEntry,
    mplp::progress::PlanTransition,
    records::{
        AaepSession, AaepSessionState, Allowance, AllowanceState, CancelCall, Decision, DecisionState, Execution,
        ExecutionProbe, ExecutionState, Plan, Point, Record, ReversibleWrite,
    },
    refusal::Refusal,
    signals::Signal,
    step::{Effects, Guard, Operation, Step},
};
use countersign_protocol::{
    aaep::event::{Payload, Summaries, ToolInvoked},
    hash::Digest,
    time::UnixMillis,
};

pub const RULES_CHANGED: &str = "the rules of the project have changed since the approval was requested";

/// Claims an allowance. The digest is computed from the request at hand, so an approval covers no other request.
pub struct Claim {
    pub digest: Digest,
    /// Idempotency digest: the same effect runs once, even across different requests.
    pub effect: Option<Digest>,
    /// The claiming enforcement point. It must be of the kind that asked.
    pub point: Point,
    /// The lane of the claiming node.
    pub node: i64,
    /// The request at hand, for the match against a standing approval.
    pub call: Option<AskedFor>,
    /// Digest of the current rules for this request.
    pub rules: Option<Digest>,
    /// The upstream query for an unknown outcome.
    pub probe: Option<Box<ExecutionProbe>>,
    /// How the upstream undoes the call, and its route's action (AAP 17.7).
    pub cancel: Option<(CancelCall, String)>,
    /// How the upstream undoes it within an undo window (AAP 14.1).
    pub undo: Option<PlannedUndo>,
    /// Whether the undo window of the call has closed.
    pub window_closed: bool,
}

pub struct ClaimView {
    pub place: ProjectRef,
    pub decision: Decision,
    pub allowance: Option<Allowance>,
    pub session: AaepSession,
    /// Rows behind the rights of caller and approver. They must be unchanged at commit.
    pub guards: Vec<Guard>,
    /// Whether the approver is still entitled to approve.
    pub approver_stands: bool,
    /// Another decision with an execution of this digest, running or unknown.
    pub under_way: Option<String>,
    /// An execution with the same effect, running, committed or unknown, and its decision's id.
    pub same_effect: Option<(Execution, String)>,
    /// The highest fence number of an earlier claim of the same effect, or of the same digest without one; else 0.
    pub fence: i64,
    /// The plan of a plan step.
    pub plan: Option<Plan>,
}

impl Operation for Claim {
    type View = ClaimView;
    type Answer = Execution;
    type Refusal = Refusal;

    fn decide(self, view: &ClaimView, env: &Env) -> Result<Step<Execution>, Refusal> {
        let decision = &view.decision;
        if view.point() != self.point {
            return Err(Refusal::ConfirmationInvalid("this decision cannot be redeemed here".into()));
        }
        let taken = self.reservation(view)?;
        let allowance = view.open_allowance(env)?;
        let not_before = self.check_window(view, allowance, env)?;
        if allowance.rules.is_some() && allowance.rules != self.rules {
            // The person read a text made under the earlier rules, which also chose the approvers.
            return Err(Refusal::ApprovalGone(RULES_CHANGED));
        }
        if let Some(other) = &view.under_way {
            return Err(action_in_progress(other));
        }
        if let Some((execution, other)) = &view.same_effect {
            return Err(effect_claimed(execution, other));
        }
        if matches!(view.session.state, AaepSessionState::Over { .. }) {
            return Err(Refusal::Conflict("the AAEP session of this question is over".into()));
        }
        let no_room = |_| Refusal::ApprovalGone("its remaining limits do not cover this call");
        let tally = allowance.tally.reserve(&taken).map_err(no_room)?;
        let mut mint = env.mint();
        let execution = self.execution(view, allowance, taken, env, &mut mint);
        let state = if tally.is_spent() { AllowanceState::Spent } else { AllowanceState::Open };
        let uses_left = tally.uses - tally.used;
        let spent = Allowance { tally, state, version: allowance.version + 1, ..allowance.clone() };
        let entry = record_approval(entry(&view.place, decision, "execution_claimed", env.now), decision)
            .open("execution_id", execution.id.as_str())
            .open("call_id", execution.call_id.as_str())
            .open("uses_left", uses_left)
            .open_if("step_id", allowance.step.as_ref().map(|step| step.step.as_str()))
            .hidden("request_sha256", execution.digest.hex());
        let mut effects = Effects {
            guards: view.guards.clone(),
            puts: vec![Record::Execution(execution.clone()), Record::Allowance(spent)],
            removes: forget_request(decision).into_iter().collect(),
            evidence: vec![entry.seal(&mut mint)?],
            not_before,
            before: Some(allowance.until),
            news: vec![Signal::Changed { decision: decision.key }],
            ..Effects::default()
        };
        if let (Some((cancel, action)), Some(session)) = (&self.cancel, decision.raised_by.session) {
            let named = (execution.call_id.as_str(), action.as_str());
            let write = ReversibleWrite::new((decision.project, session), named, cancel, env.now, &mut mint);
            effects.puts.push(Record::ReversibleWrite(write));
        }
        if let (Some(undo), Some(session)) = (&self.undo, decision.raised_by.session) {
            let call = undo.begin(decision, session, &execution.call_id, env, &mut mint);
            effects.puts.push(Record::UndoableCall(call));
        }
        view.begin_step(env, &mut mint, &mut effects)?;
        announce(view, &execution, env, &mut mint, &mut effects);
        Ok(Step { answer: execution, effects })
    }
}

/// The approval that a claim rests on: by whom and how surely, or that nobody answered.
fn record_approval(entry: DraftEntry, decision: &Decision) -> DraftEntry {
    let entry = entry.open("approval", settled_as(decision));
    match &decision.state {
        DecisionState::Accepted { by, .. } => entry
            .open("assurance", by.assurance.as_str())
            .open("via", by.via.name())
            .hidden("approved_by", by.subject.as_str()),
        _ => entry,
    }
}

impl Claim {
    /// The amounts to reserve, if the approval covers the request.
    fn reservation(&self, view: &ClaimView) -> Result<Vec<AmountUse>, Refusal> {
        let pattern = view.allowance.as_ref().and_then(|allowance| allowance.pattern.as_ref());
        match (pattern, &self.call) {
            (Some(pattern), Some(call)) => call.fits(pattern).map_err(|differences| {
                let told: Vec<String> = differences.iter().map(|difference| difference.text("en")).collect();
                Refusal::ConfirmationInvalid(format!("the approval does not cover this call: {}", told.join("; ")))
            }),
            (None, _) if view.decision.digest == self.digest => Ok(Vec::new()),
            _ => Err(Refusal::ConfirmationInvalid("the call differs from the approved one".into())),
        }
    }

    /// A queued call is claimed when its undo window has closed, and by nothing else (AAP 14.1).
    fn check_window(&self, view: &ClaimView, allowance: &Allowance, env: &Env) -> Result<Option<UnixMillis>, Refusal> {
        match (allowance.queued_call(), self.window_closed) {
            (None, false) => Ok(None),
            (Some(queued), true) if env.now >= queued.closes_at => Ok(Some(queued.closes_at)),
            (Some(_), _) => Err(queued_already(&view.decision.id)),
            (None, true) => Err(Refusal::ApprovalGone("no call is held under it")),
        }
    }

    fn execution(
        &self,
        view: &ClaimView,
        allowance: &Allowance,
        taken: Vec<AmountUse>,
        env: &Env,
        mint: &mut Mint,
    ) -> Execution {
        let decision = &view.decision;
        Execution {
            key: mint.key(),
            version: 1,
            project: decision.project,
            id: mint.id("exe"),
            decision: decision.key,
            allowance: allowance.key,
            raised_by: decision.raised_by.clone(),
            point: self.point,
            digest: self.digest,
            effect: self.effect,
            taken,
            step: allowance.step.clone(),
            lease_s: allowance.lease_s,
            // At least the time in seconds: the numbers of a key go on growing after retention has removed its executions.
            fence: (view.fence + 1).max(env.now.secs()),
            node: self.node,
            claimed_at: env.now,
            call_id: mint.id("call"),
            state: ExecutionState::Claimed { lease_until: env.now.plus_secs(allowance.lease_s) },
            probe: self.probe.clone(),
            conflict: None,
            undoable: self.undo.is_some() && view.decision.raised_by.session.is_some(),
        }
    }
}

impl ClaimView {
    /// An allowance for a plan step names its own enforcement point.
    fn point(&self) -> Point {
        self.allowance.as_ref().map_or(self.decision.point, |allowance| allowance.point)
    }

    /// A step starts with its first claim, after all its dependencies are complete (MPLP step rules).
    fn begin_step(&self, env: &Env, mint: &mut Mint, effects: &mut Effects) -> Result<(), Refusal> {
        let step = self.allowance.as_ref().and_then(|allowance| allowance.step.as_ref());
        let Some(step) = step else { return Ok(()) };
        let plan = self.plan.as_ref().ok_or(Refusal::Internal)?;
        let mut moving = PlanTransition::of(plan, env.now);
        moving.claim_step(&step.step).map_err(Refusal::ApprovalGone)?;
        moving.finish(&self.place, mint, effects)
    }

    fn open_allowance(&self, env: &Env) -> Result<&Allowance, Refusal> {
        if !permits_execution(&self.decision) {
            return Err(Refusal::ApprovalGone(unapproved_reason(&self.decision)));
        }
        let allowance = self.allowance.as_ref().ok_or(Refusal::Internal)?;
        let over = match allowance.state {
            AllowanceState::Open if env.now >= allowance.until => "it has expired",
            AllowanceState::Open if !self.approver_stands => "its approver is no longer entitled to approve it",
            AllowanceState::Open => return Ok(allowance),
            AllowanceState::Spent => "it was already claimed",
            AllowanceState::Lapsed { .. } => "it has expired",
            AllowanceState::Cancelled { .. } => "it was cancelled",
        };
        Err(Refusal::ApprovalGone(over))
    }
}

fn unapproved_reason(decision: &Decision) -> &'static str {
    match decision.state {
        DecisionState::Pending { .. } => "nobody has answered yet",
        DecisionState::Rejected { .. } => "a person rejected it",
        DecisionState::Expired { .. } => "nobody answered in time",
        DecisionState::Cancelled { .. } => "the question was withdrawn or cancelled",
        DecisionState::Accepted { .. } | DecisionState::Answered { .. } => "the question was not about a call",
    }
}

/// Announces the tool after the approval and before the side effect (AAEP 4.3.1, C6).
fn announce(view: &ClaimView, execution: &Execution, env: &Env, mint: &mut Mint, effects: &mut Effects) {
    let mut talk = EventWriter::resume(&view.session, env.now);
    if talk.is_ended() {
        return;
    }
    let (to, tool) = (audience(&view.decision), tool_of(&view.decision, execution));
    if talk.pending().is_empty() {
        let notice = Notice::Running { tool: tool.clone() };
        talk.set_state(&to, mint, CALLING_TOOL, &notice, render::extension(&view.decision));
    }
    talk.announce(&to, mint, render::extension(&view.decision), |words| {
        Payload::ToolInvoked(ToolInvoked {
            tool: tool.clone(),
            summaries: Summaries::normal(words(&Notice::Running { tool: tool.clone() })),
            risk_level: Some(view.decision.terms.risk),
            irreversible: Some(view.decision.terms.irreversible),
            tool_call_id: Some(execution.call_id.clone()),
            ..ToolInvoked::default()
        })
    });
    let (session, said) = talk.finish();
    effects.puts.push(Record::AaepSession(session));
    effects.news.extend(said);
}
