//! The trace of a plan: a view of its progress with one segment per step.

use super::{PRODUCER, derived};
use crate::records::{Plan, PlannedAction};
use countersign_protocol::{
    mplp::{
        BaseEvent, Meta, MplpId, Plan as PlanDocument, PlanStatus, PlanStep, Segment, SegmentStatus, StepStatus, Trace,
        TraceBase, TraceStatus, meta::VERSION,
    },
    time::UnixMillis,
};
use serde_json::{Map, Value, json};

/// Uses the trace given by the plan's agent, or a derived one.
pub fn document(plan: &Plan) -> Trace {
    let document = &plan.document;
    let root_span = root_span(document);
    Trace {
        meta: meta(document),
        governance: None,
        trace_id: root_span.trace_id.clone(),
        context_id: document.context_id.clone(),
        plan_id: Some(plan.id.clone()),
        status: status(document.status),
        started_at: first(document, |event| event.event_type == "plan.in.progress"),
        finished_at: finished_at(document),
        segments: document.steps.iter().map(|step| segment(plan, step)).collect(),
        events: document.events.iter().map(|event| in_trace(event, &root_span.trace_id)).collect(),
        root_span,
    }
}

/// When a plan was completed, failed or was cancelled; none while it may go on.
pub fn finished_at(document: &PlanDocument) -> Option<UnixMillis> {
    let is_over = matches!(document.status, PlanStatus::Completed | PlanStatus::Failed | PlanStatus::Cancelled);
    if is_over { last(document, |event| event.event_type.starts_with("plan.")) } else { None }
}

/// The derived trace of an object without one.
pub(super) fn trace_id(of: &MplpId) -> MplpId {
    derived("trace", &[of.as_str()])
}

pub(super) fn span_id(of: &MplpId) -> MplpId {
    derived("span", &[of.as_str()])
}

/// Always set to the plan's Context, regardless of the agent's value.
fn root_span(document: &PlanDocument) -> TraceBase {
    let own = || TraceBase {
        trace_id: trace_id(&document.plan_id),
        span_id: span_id(&document.plan_id),
        parent_span_id: None,
        context_id: None,
        attributes: None,
    };
    TraceBase { context_id: Some(document.context_id.clone()), ..document.trace.clone().unwrap_or_else(own) }
}

fn meta(document: &PlanDocument) -> Meta {
    let meta = &document.meta;
    Meta {
        protocol_version: VERSION.into(),
        schema_version: VERSION.into(),
        created_at: meta.created_at,
        created_by: Some(PRODUCER.into()),
        updated_at: meta.updated_at,
        updated_by: meta.updated_at.map(|_| PRODUCER.into()),
        tags: Vec::new(),
        cross_cutting: Vec::new(),
    }
}

/// A plan without approval, or before its first step, has not begun.
fn status(plan: PlanStatus) -> TraceStatus {
    match plan {
        PlanStatus::Draft | PlanStatus::Proposed | PlanStatus::Approved => TraceStatus::Pending,
        PlanStatus::InProgress => TraceStatus::Running,
        PlanStatus::Completed => TraceStatus::Completed,
        PlanStatus::Failed => TraceStatus::Failed,
        PlanStatus::Cancelled => TraceStatus::Cancelled,
    }
}

fn segment(plan: &Plan, step: &PlanStep) -> Segment {
    let of_step = |event: &&BaseEvent| names_step(event, &step.step_id);
    let is_over = matches!(step.status, StepStatus::Completed | StepStatus::Failed | StepStatus::Skipped);
    Segment {
        segment_id: derived("segment", &[plan.id.as_str(), step.step_id.as_str()]),
        parent_segment_id: None,
        label: step.description.clone(),
        status: segment_status(plan.document.status, step.status),
        started_at: first(&plan.document, |event| of_step(&event) && event.event_type == "step.in.progress"),
        finished_at: if is_over { last(&plan.document, |event| of_step(&event)) } else { None },
        attributes: Some(attributes(step, plan.actions.get(&step.step_id))),
    }
}

/// In a cancelled plan, every unfinished step is cancelled too.
fn segment_status(plan: PlanStatus, step: StepStatus) -> SegmentStatus {
    match (step, plan) {
        (StepStatus::Completed, _) => SegmentStatus::Completed,
        (StepStatus::Skipped, _) => SegmentStatus::Skipped,
        (StepStatus::Failed, _) => SegmentStatus::Failed,
        (_, PlanStatus::Cancelled) => SegmentStatus::Cancelled,
        (StepStatus::InProgress, _) => SegmentStatus::Running,
        (StepStatus::Pending | StepStatus::Blocked, _) => SegmentStatus::Pending,
    }
}

fn attributes(step: &PlanStep, planned: Option<&PlannedAction>) -> Map<String, Value> {
    let mut all = Map::from_iter([("step_id".to_owned(), json!(step.step_id))]);
    if let Some(planned) = planned {
        all.insert("tool".into(), json!(planned.tool));
        all.insert("uses".into(), json!(planned.action.uses));
        all.insert("done".into(), json!(planned.tally.done));
    }
    all
}

fn in_trace(event: &BaseEvent, trace_id: &MplpId) -> BaseEvent {
    BaseEvent { trace_id: Some(trace_id.clone()), ..event.clone() }
}

fn names_step(event: &BaseEvent, step: &MplpId) -> bool {
    let named = event.data.as_ref().and_then(|data| data.get("step_id")).and_then(Value::as_str);
    named == Some(step.as_str())
}

fn first(document: &PlanDocument, is: impl Fn(&BaseEvent) -> bool) -> Option<UnixMillis> {
    document.events.iter().find(|event| is(event)).map(|event| event.timestamp)
}

fn last(document: &PlanDocument, is: impl Fn(&BaseEvent) -> bool) -> Option<UnixMillis> {
    document.events.iter().rev().find(|event| is(event)).map(|event| event.timestamp)
}
