//! Progress of a plan. The status of a plan and its steps follows decisions and executions, in the same commit; nothing
//! else changes it (MPLP 4.3, R-14).
//!
//! ```text
//! plan   draft ─► proposed ─► approved ─► in_progress ─► completed │ failed │ cancelled
//!          ▲          │ rejected, cancelled, expired
//!          └──────────┘
//! step   pending ─► in_progress ─► completed │ failed       pending ─► blocked, skipped
//! ```

use crate::{
    decision::{ProjectRef, settle::ApprovedExtent, settled_as},
    env::Mint,
    evidence::DraftEntry,
    mplp::{confirm::confirm_id, diff},
    records::{AskedPlan, Decision, DecisionState, Feedback, Plan, PlannedAction, Record},
    refusal::Refusal,
    signals::Signal,
    step::Effects,
};
use countersign_protocol::{
    hash::Digest,
    mplp::{BaseEvent, MplpId, Plan as PlanDocument, PlanStatus, StepStatus},
    time::UnixMillis,
};
use serde_json::{Map, Value, json};

/// The source named in a plan's events.
const SOURCE: &str = "countersign";
/// The most events kept in a plan; the evidence log has all of them.
const MAX_EVENTS: usize = 500;

/// A plan transition.
pub struct PlanTransition {
    plan: Plan,
    now: UnixMillis,
    told: Vec<Moved>,
}

/// One change of a status.
struct Moved {
    step: Option<MplpId>,
    from: &'static str,
    to: &'static str,
    confirm_id: Option<MplpId>,
    reason: Option<String>,
}

impl PlanTransition {
    /// The transition writes the next version.
    pub fn of(plan: &Plan, now: UnixMillis) -> Self {
        Self { plan: Plan { version: plan.version + 1, ..plan.clone() }, now, told: Vec::new() }
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// A decision about the plan is now pending.
    pub fn propose(&mut self, decision: &Decision) -> Result<(), Refusal> {
        if self.plan.document.status != PlanStatus::Draft {
            let status = self.plan.document.status.as_str();
            return Err(Refusal::Conflict(format!("the plan is {status}: only a draft can be proposed")));
        }
        let asked = confirm_id(decision);
        self.plan.confirm = Some(decision.key);
        let changes = self.plan.asked.as_ref().map(|before| diff::changes_since(before, &self.plan));
        let (document, actions, lasts_s) = (self.plan.document.clone(), self.plan.actions.clone(), self.plan.lasts_s);
        self.plan.asked = Some(AskedPlan { confirm_id: asked.clone(), document, actions, lasts_s, changes });
        self.set_status(PlanStatus::Proposed, Some(asked), None);
        Ok(())
    }

    /// The decision about the plan is settled: approved, or back to draft with the reason (MPLP-4.3-03, 04, 08, 10).
    pub(crate) fn apply_decision(&mut self, decision: &Decision, granted: &ApprovedExtent) -> Result<(), Refusal> {
        if self.plan.document.status != PlanStatus::Proposed || self.plan.confirm != Some(decision.key) {
            return Err(Refusal::Conflict("this approval is not about the current proposal of the plan".into()));
        }
        let asked = confirm_id(decision);
        match (&decision.state, granted) {
            (DecisionState::Accepted { .. }, ApprovedExtent::Steps(steps)) => {
                self.plan.until = Some(self.now.plus_secs(self.plan.lasts_s));
                self.plan.feedback = None;
                self.plan.approved = Some(steps.clone());
                self.set_status(PlanStatus::Approved, Some(asked), None);
                self.skip_unapproved(steps);
            }
            (state, _) => {
                let reason = draft_reason(state).unwrap_or_else(|| settled_as(decision).to_owned());
                self.plan.feedback = Some(Feedback { confirm_id: asked.clone(), reason: reason.clone(), at: self.now });
                (self.plan.confirm, self.plan.approved) = (None, None);
                self.set_status(PlanStatus::Draft, Some(asked), Some(reason));
            }
        }
        Ok(())
    }

    /// Skips the steps that were not approved.
    fn skip_unapproved(&mut self, approved: &[MplpId]) {
        for id in self.ids() {
            if !approved.contains(&id) {
                self.set_step_status(&id, StepStatus::Skipped, Some("not approved"));
            }
        }
    }

    /// Claims a use of a step: only in a running plan, and after the step's dependencies.
    pub fn claim_step(&mut self, step: &MplpId) -> Result<(), &'static str> {
        may_begin(&self.plan.document, step)?;
        if self.plan.document.status == PlanStatus::Approved {
            self.set_status(PlanStatus::InProgress, None, None);
        }
        if self.status_of(step) == Some(StepStatus::Pending) {
            self.set_step_status(step, StepStatus::InProgress, None);
        }
        if let Some(planned) = self.plan.actions.get_mut(step) {
            planned.tally.under_way += 1;
        }
        Ok(())
    }

    /// Ends a use of a step. `returned`: it may be retried. `open`: its allowance has uses left.
    pub fn end_use(&mut self, step: &MplpId, done: bool, returned: bool, open: bool) {
        let Some(planned) = self.plan.actions.get_mut(step) else { return };
        planned.tally.under_way = (planned.tally.under_way - 1).max(0);
        match (done, returned) {
            (true, _) => planned.tally.done += 1,
            (false, false) => planned.tally.lost += 1,
            (false, true) => {}
        }
        let tally = planned.tally;
        if tally.done >= planned.action.uses {
            self.set_step_status(step, StepStatus::Completed, None);
        } else if !open && tally.under_way == 0 {
            self.set_step_status(step, StepStatus::Failed, Some("not all of its calls succeeded"));
        }
        self.finish_if_done();
    }

    /// Ends the allowance of a step before all uses were claimed. A running step can only complete or fail, and a
    /// pending step cannot fail (MPLP step rules).
    pub fn end_allowance(&mut self, step: &MplpId, lapsed: bool) {
        let under_way = self.plan.actions.get(step).is_some_and(|planned| planned.tally.under_way > 0);
        let why = Some(if lapsed { "its approval expired" } else { "revoked" });
        match (self.status_of(step), lapsed) {
            (Some(StepStatus::InProgress), _) if !under_way => self.set_step_status(step, StepStatus::Failed, why),
            (Some(StepStatus::Pending), true) => self.set_step_status(step, StepStatus::Blocked, why),
            (Some(StepStatus::Pending), false) => self.set_step_status(step, StepStatus::Skipped, why),
            _ => {}
        }
        self.finish_if_done();
    }

    /// Applies the agent's report on its own step.
    pub fn report_step(&mut self, step: &MplpId, status: StepStatus, reason: Option<&str>) -> Result<(), Refusal> {
        let now = self.status_of(step).ok_or_else(|| Refusal::NotFound("the plan has no such step".into()))?;
        let runs = matches!(self.plan.document.status, PlanStatus::Approved | PlanStatus::InProgress);
        if !runs {
            return Err(Refusal::Conflict("only steps of an approved plan change their status".into()));
        }
        if !reportable(now, status) {
            return Err(Refusal::Conflict(format!("a step cannot go from {} to {}", now.as_str(), status.as_str())));
        }
        if status == StepStatus::InProgress {
            may_begin(&self.plan.document, step).map_err(|why| Refusal::Conflict(why.into()))?;
        }
        if self.plan.document.status == PlanStatus::Approved {
            self.set_status(PlanStatus::InProgress, None, None);
        }
        self.set_step_status(step, status, reason);
        self.finish_if_done();
        Ok(())
    }

    /// Cancels the plan; the caller cancels its open decisions and allowances.
    pub fn cancel(&mut self, reason: &str) -> Result<(), Refusal> {
        match self.plan.document.status {
            PlanStatus::Draft | PlanStatus::Approved | PlanStatus::InProgress => {
                self.set_status(PlanStatus::Cancelled, None, Some(reason.to_owned()));
                Ok(())
            }
            PlanStatus::Proposed => Err(Refusal::Conflict(
                "a decision about the plan is pending: withdraw that question, or cancel its Confirm".into(),
            )),
            _ => Err(Refusal::Conflict(format!("the plan is {} already", self.plan.document.status.as_str()))),
        }
    }

    /// The agent lost access: a proposed plan returns to draft, a running plan is cancelled.
    pub fn end_access(&mut self, why: &str) {
        match self.plan.document.status {
            PlanStatus::Proposed => {
                let back = confirm_of(&self.plan);
                self.plan.confirm = None;
                self.set_status(PlanStatus::Draft, back, Some(why.to_owned()));
            }
            PlanStatus::Approved | PlanStatus::InProgress => {
                self.set_status(PlanStatus::Cancelled, None, Some(why.to_owned()));
            }
            _ => {}
        }
    }

    pub fn is_running(&self) -> bool {
        is_running(&self.plan)
    }

    /// Writes the plan and an audit entry per change.
    pub fn finish(self, place: &ProjectRef, mint: &mut Mint, effects: &mut Effects) -> Result<(), Refusal> {
        for moved in &self.told {
            effects.evidence.push(self.entry(moved, place).seal(mint)?);
        }
        effects.news.push(Signal::Changed { decision: self.plan.key });
        effects.puts.push(Record::Plan(self.plan));
        Ok(())
    }

    fn entry(&self, moved: &Moved, place: &ProjectRef) -> DraftEntry {
        let entry = plan_entry(&self.plan, "plan_changed", place, self.now)
            .open("from", moved.from)
            .open("to", moved.to)
            .open_if("step_id", moved.step.as_ref().map(MplpId::as_str))
            .open_if("confirm_id", moved.confirm_id.as_ref().map(MplpId::as_str));
        entry.hidden_if("reason", moved.reason.clone())
    }

    fn set_status(&mut self, status: PlanStatus, confirm_id: Option<MplpId>, reason: Option<String>) {
        let from = self.plan.document.status.as_str();
        self.plan.document.status = status;
        self.record_transition(Moved { step: None, from, to: status.as_str(), confirm_id, reason });
    }

    fn set_step_status(&mut self, id: &MplpId, status: StepStatus, reason: Option<&str>) {
        let Some(step) = self.plan.document.steps.iter_mut().find(|step| step.step_id == *id) else { return };
        if step.status == status || is_final(step.status) {
            return;
        }
        let from = step.status.as_str();
        step.status = status;
        let (step, reason) = (Some(id.clone()), reason.map(str::to_owned));
        self.record_transition(Moved { step, from, to: status.as_str(), confirm_id: None, reason });
    }

    /// Uses the same timestamp in the plan's own events, its `updated_at` and the evidence (M-24).
    fn record_transition(&mut self, moved: Moved) {
        let count = self.plan.document.events.len() + self.told.len();
        let seed = format!("{}\n{}\n{}\n{count}", self.plan.key, self.plan.version, self.told.len());
        let mut data = Map::new();
        data.insert("from".into(), json!(moved.from));
        data.insert("to".into(), json!(moved.to));
        let further = [
            ("step_id", moved.step.as_ref().map(|id| json!(id))),
            ("confirm_id", moved.confirm_id.as_ref().map(|id| json!(id))),
            ("reason", moved.reason.as_ref().map(|reason| json!(reason))),
        ];
        data.extend(further.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
        self.push_event(event_type(&moved), MplpId::of_hash(&Digest::of(seed.as_bytes())), data);
        self.told.push(moved);
    }

    fn push_event(&mut self, event_type: String, event_id: MplpId, data: Map<String, Value>) {
        let document = &mut self.plan.document;
        let trace_id = document.trace.as_ref().map(|trace| trace.trace_id.clone());
        let (source, data) = (SOURCE.to_owned(), Some(data));
        document.events.push(BaseEvent { event_id, event_type, source, timestamp: self.now, trace_id, data });
        let extra = document.events.len().saturating_sub(MAX_EVENTS);
        document.events.drain(..extra);
        document.meta = document.meta.clone().updated(self.now, SOURCE);
    }

    fn ids(&self) -> Vec<MplpId> {
        self.plan.document.steps.iter().map(|step| step.step_id.clone()).collect()
    }

    fn status_of(&self, id: &MplpId) -> Option<StepStatus> {
        status_of(&self.plan.document, id)
    }

    /// Blocks the steps behind a failed step, and ends a plan without runnable steps.
    fn finish_if_done(&mut self) {
        self.block();
        let steps = &self.plan.document.steps;
        if steps.iter().any(|step| matches!(step.status, StepStatus::Pending | StepStatus::InProgress)) {
            return;
        }
        let well = steps.iter().all(|step| matches!(step.status, StepStatus::Completed | StepStatus::Skipped));
        match self.plan.document.status {
            // A plan that never began and has no step left was withdrawn, not completed.
            PlanStatus::Approved if well => self.set_status(PlanStatus::Cancelled, None, Some("revoked".into())),
            PlanStatus::InProgress if well => self.set_status(PlanStatus::Completed, None, None),
            PlanStatus::Approved | PlanStatus::InProgress => self.set_status(PlanStatus::Failed, None, None),
            _ => {}
        }
    }

    fn block(&mut self) {
        // A blocked step blocks its dependents in turn.
        while let Some(id) = self.ids().into_iter().find(|id| is_blocked(&self.plan.document, id)) {
            self.set_step_status(&id, StepStatus::Blocked, Some("a step that it depends on was not completed"));
        }
    }
}

impl PlannedAction {
    /// The number of calls that an approval of the step covers without another confirmation.
    pub(crate) fn calls_without_asking(&self) -> i64 {
        if self.asks_again { 0 } else { self.action.uses }
    }

    /// A tally with all uses unclaimed.
    pub(crate) fn whole_tally(&self) -> crate::bounded::Tally {
        crate::bounded::Tally::new(&self.pattern, self.action.uses)
    }
}

/// The common members of every audit entry about a plan.
pub(super) fn plan_entry(plan: &Plan, event_type: &'static str, place: &ProjectRef, now: UnixMillis) -> DraftEntry {
    let entry = DraftEntry::new((place.0, &place.1), event_type, now)
        .open("plan_id", plan.id.as_str())
        .open("revision", plan.revision)
        .open_if("operator", plan.by.operator.as_ref().map(|domain| domain.as_str().to_owned()));
    match plan.by.delegation {
        Some(delegation) => entry.under_delegation(delegation, &plan.by.principal),
        None => entry.open("principal", plan.by.principal.as_str()),
    }
}

/// Whether the steps of a plan may run.
pub fn is_running(plan: &Plan) -> bool {
    matches!(plan.document.status, PlanStatus::Approved | PlanStatus::InProgress)
}

/// Checks that a selection of steps includes all of their dependencies.
pub fn check_selection(document: &PlanDocument, chosen: &[MplpId]) -> Result<(), String> {
    for id in chosen {
        let step = document.steps.iter().find(|step| step.step_id == *id);
        let step = step.ok_or_else(|| format!("the plan has no step {id}"))?;
        if let Some(needed) = step.dependencies.iter().find(|needed| !chosen.contains(needed)) {
            return Err(format!("step {id} depends on step {needed}, which is left out"));
        }
    }
    Ok(())
}

/// Whether a step may begin or continue.
pub fn may_begin(document: &PlanDocument, id: &MplpId) -> Result<(), &'static str> {
    if !matches!(document.status, PlanStatus::Approved | PlanStatus::InProgress) {
        return Err("the plan does not run");
    }
    let step = document.steps.iter().find(|step| step.step_id == *id).ok_or("the plan has no such step")?;
    match step.status {
        StepStatus::Pending if !all_completed(document, &step.dependencies) => {
            Err("a step that it depends on is not completed")
        }
        StepStatus::Pending | StepStatus::InProgress => Ok(()),
        StepStatus::Completed => Err("the step is completed"),
        StepStatus::Blocked | StepStatus::Skipped | StepStatus::Failed => Err("the step does not run any more"),
    }
}

/// Whether a step may run now or later.
pub fn may_still_run(document: &PlanDocument, id: &MplpId) -> bool {
    matches!(document.status, PlanStatus::Approved | PlanStatus::InProgress)
        && matches!(status_of(document, id), Some(StepStatus::Pending | StepStatus::InProgress))
}

fn all_completed(document: &PlanDocument, ids: &[MplpId]) -> bool {
    ids.iter().all(|id| status_of(document, id) == Some(StepStatus::Completed))
}

fn status_of(document: &PlanDocument, id: &MplpId) -> Option<StepStatus> {
    document.steps.iter().find(|step| step.step_id == *id).map(|step| step.status)
}

/// A pending step with a dependency that can never complete.
fn is_blocked(document: &PlanDocument, id: &MplpId) -> bool {
    let Some(step) = document.steps.iter().find(|step| step.step_id == *id) else { return false };
    let stuck = |needed: &MplpId| {
        let status = status_of(document, needed);
        matches!(status, Some(StepStatus::Failed | StepStatus::Blocked | StepStatus::Skipped))
    };
    step.status == StepStatus::Pending && step.dependencies.iter().any(stuck)
}

fn is_final(status: StepStatus) -> bool {
    matches!(status, StepStatus::Completed | StepStatus::Skipped | StepStatus::Failed)
}

/// The transitions an agent may report. Only the agent sets a blocked step back to pending.
fn reportable(now: StepStatus, to: StepStatus) -> bool {
    use StepStatus::{Blocked, Completed, Failed, InProgress, Pending, Skipped};
    matches!(
        (now, to),
        (Pending, InProgress | Blocked | Skipped) | (InProgress, Completed | Failed) | (Blocked, Pending)
    )
}

fn draft_reason(state: &DecisionState) -> Option<String> {
    match state {
        DecisionState::Rejected { rationale, .. } => rationale.clone().or(Some("rejected without a reason".into())),
        DecisionState::Expired { .. } => Some("expired".into()),
        DecisionState::Cancelled { reason, .. } => reason.clone().or(Some("cancelled".into())),
        _ => None,
    }
}

fn confirm_of(plan: &Plan) -> Option<MplpId> {
    plan.asked.as_ref().map(|asked| asked.confirm_id.clone())
}

fn event_type(moved: &Moved) -> String {
    let what = if moved.step.is_some() { "step" } else { "plan" };
    // Dots only inside objects (M-15).
    format!("{what}.{}", moved.to.replace('_', "."))
}
