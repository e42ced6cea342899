//! Writes, changes and reports on a plan. Proposing a plan raises a decision (`decision::raise`).

use super::progress::{PlanTransition, plan_entry};
use crate::{
    aaep::texts::Notice,
    clarification::texts::ClarificationResult,
    decision::{ProjectRef, due::leave_tool_state},
    env::Env,
    records::{AaepSession, Allowance, AllowanceState, CancelledFor, Decision, Plan, PlannedAction, Raiser, Record},
    refusal::Refusal,
    signals::Signal,
    step::{Effects, Guard, Operation, Step},
};
use countersign_protocol::{
    mplp::{BaseEvent, Meta, MplpId, Plan as PlanDocument, PlanStatus, StepReport, StepStatus},
    time::UnixMillis,
};
use serde_json::{Map, json};
use std::collections::BTreeMap;

/// Writes a plan, or rewrites a draft. Regardless of the status it claims, it becomes a draft.
pub struct WritePlan {
    pub by: Raiser,
    pub document: PlanDocument,
    pub actions: BTreeMap<MplpId, PlannedAction>,
    pub lasts_s: i64,
    /// The clarified answers about exactly this plan.
    pub clarified: Option<ClarificationResult>,
}

pub struct WriteView {
    pub place: ProjectRef,
    /// The existing plan with this id, if any.
    pub known: Option<Plan>,
    pub guards: Vec<Guard>,
}

impl Operation for WritePlan {
    type View = WriteView;
    type Answer = Plan;
    type Refusal = Refusal;

    fn decide(self, view: &WriteView, env: &Env) -> Result<Step<Plan>, Refusal> {
        match &view.known {
            None => self.create(view, env),
            Some(known) if known.by.principal != self.by.principal => {
                // A plan of another principal stays invisible.
                Err(Refusal::Conflict("this plan_id is taken: use a new UUID".into()))
            }
            Some(known) if known.document.status != PlanStatus::Draft => Err(Refusal::Conflict(format!(
                "the plan is {}: only a draft can be changed",
                known.document.status.as_str()
            ))),
            Some(known) => self.change(known, view, env),
        }
    }
}

impl WritePlan {
    fn create(self, view: &WriteView, env: &Env) -> Result<Step<Plan>, Refusal> {
        let mut mint = env.mint();
        let created = BaseEvent {
            event_id: MplpId::from_random(mint.bytes()),
            event_type: "plan.created".into(),
            source: "countersign".into(),
            timestamp: env.now,
            trace_id: None,
            data: Some(Map::from_iter([("title".to_owned(), json!(self.document.title))])),
        };
        let plan = Plan {
            key: mint.key(),
            version: 1,
            project: view.place.0,
            id: self.document.plan_id.clone(),
            by: self.by.clone(),
            document: drafted(self.document, Meta::ours(env.now, self.by.principal), vec![created]),
            actions: self.actions,
            lasts_s: self.lasts_s,
            revision: 1,
            confirm: None,
            asked: None,
            feedback: None,
            clarified: self.clarified,
            approved: None,
            until: None,
        };
        write_plan(plan, "plan_created", view, env, &mut mint)
    }

    fn change(self, known: &Plan, view: &WriteView, env: &Env) -> Result<Step<Plan>, Refusal> {
        let mut mint = env.mint();
        let meta = known.document.meta.clone().updated(env.now, self.by.principal.clone());
        let plan = Plan {
            version: known.version + 1,
            document: drafted(self.document, meta, known.document.events.clone()),
            actions: self.actions,
            lasts_s: self.lasts_s,
            revision: known.revision + 1,
            clarified: self.clarified,
            // A draft from an earlier session passes to the agent rewriting it.
            by: self.by,
            ..known.clone()
        };
        write_plan(plan, "plan_rewritten", view, env, &mut mint)
    }
}

fn write_plan(
    plan: Plan,
    event_type: &'static str,
    view: &WriteView,
    env: &Env,
    mint: &mut crate::env::Mint,
) -> Result<Step<Plan>, Refusal> {
    let entry = plan_entry(&plan, event_type, &view.place, env.now)
        .open("steps", plan.document.steps.len())
        .hidden("title", plan.document.title.as_str());
    let effects = Effects {
        guards: view.guards.clone(),
        evidence: vec![entry.seal(mint)?],
        puts: vec![Record::Plan(plan.clone())],
        news: vec![Signal::Changed { decision: plan.key }],
        ..Effects::default()
    };
    Ok(Step { answer: plan, effects })
}

/// Ignores the status that the document claims: it is a draft, and all of its steps are pending.
fn drafted(document: PlanDocument, meta: Meta, events: Vec<BaseEvent>) -> PlanDocument {
    let mut steps = document.steps;
    for step in &mut steps {
        step.status = StepStatus::Pending;
    }
    let meta = Meta { tags: document.meta.tags, cross_cutting: document.meta.cross_cutting, ..meta };
    PlanDocument { meta, status: PlanStatus::Draft, steps, events, ..document }
}

/// An agent's report on a step that it runs itself, or that needs no more calls.
pub struct ReportStep {
    pub step: MplpId,
    pub report: StepReport,
}

pub struct StepView {
    pub place: ProjectRef,
    pub plan: Plan,
    /// The decision that approved the plan and its AAEP session, if the plan is running.
    pub approved: Option<(Decision, AaepSession)>,
    /// The open allowance of the step; it ends with the step.
    pub allowance: Option<Allowance>,
    pub guards: Vec<Guard>,
}

impl Operation for ReportStep {
    type View = StepView;
    type Answer = Plan;
    type Refusal = Refusal;

    fn decide(self, view: &StepView, env: &Env) -> Result<Step<Plan>, Refusal> {
        if let Some(planned) = view.plan.actions.get(&self.step)
            && planned.tally.under_way > 0
        {
            return Err(Refusal::Conflict("a call of this step is in progress: report its outcome first".into()));
        }
        let mut moving = PlanTransition::of(&view.plan, env.now);
        moving.report_step(&self.step, self.report.status, self.report.reason.as_deref())?;
        let (plan, goes_on) = (moving.plan().clone(), moving.is_running());
        let mut mint = env.mint();
        let mut effects = Effects { guards: view.guards.clone(), ..Effects::default() };
        moving.finish(&view.place, &mut mint, &mut effects)?;
        if let (Some((decision, session)), false) = (&view.approved, goes_on) {
            leave_tool_state(decision, session, &Notice::Finished, env, &mut mint, &mut effects);
        }
        let over = matches!(self.report.status, StepStatus::Completed | StepStatus::Failed | StepStatus::Skipped);
        effects.puts.extend(view.allowance.as_ref().filter(|_| over).map(|open| cancelled_allowance(open, env.now)));
        Ok(Step { answer: plan, effects })
    }
}

/// Ends an allowance that the agent no longer needs.
fn cancelled_allowance(allowance: &Allowance, now: UnixMillis) -> Record {
    let state = AllowanceState::Cancelled { at: now, why: CancelledFor::Withdrawn };
    Record::Allowance(Allowance { state, version: allowance.version + 1, ..allowance.clone() })
}
