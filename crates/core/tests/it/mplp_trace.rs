//! Trace documents as views of plans.

use crate::mplp_rows::{ASKED, CONTEXT_ID, DECIDED, PLAN_ID, STEPS, id, plan, sound};
use countersign_core::{mplp::trace::document, records::Plan};
use countersign_protocol::{
    mplp::{BaseEvent, MplpId, PlanStatus, SegmentStatus, StepStatus, TraceStatus},
    time::UnixMillis,
};
use serde_json::json;

fn with(status: PlanStatus, steps: [StepStatus; 3], events: Vec<BaseEvent>) -> Plan {
    let mut plan = plan();
    plan.document.status = status;
    plan.document.steps.iter_mut().zip(steps).for_each(|(step, status)| step.status = status);
    plan.document.events = events;
    plan
}

fn event(n: u8, event_type: &str, timestamp: UnixMillis, step: Option<&str>) -> BaseEvent {
    let data = step.map(|step| json!({ "step_id": step }).as_object().unwrap().clone());
    let (event_id, source) = (MplpId::from_random([n; 16]), "countersign".to_owned());
    BaseEvent { event_id, event_type: event_type.into(), source, timestamp, trace_id: None, data }
}

const PENDING: [StepStatus; 3] = [StepStatus::Pending; 3];

/// MPLP-2.1-01
#[test]
fn every_trace_is_sound_and_bound_to_its_plan_and_context() {
    let all = [
        (PlanStatus::Draft, TraceStatus::Pending),
        (PlanStatus::Proposed, TraceStatus::Pending),
        (PlanStatus::Approved, TraceStatus::Pending),
        (PlanStatus::InProgress, TraceStatus::Running),
        (PlanStatus::Completed, TraceStatus::Completed),
        (PlanStatus::Failed, TraceStatus::Failed),
        (PlanStatus::Cancelled, TraceStatus::Cancelled),
    ];
    for (status, expected) in all {
        let trace = document(&with(status, PENDING, vec![event(1, "plan.created", ASKED, None)]));
        let written = sound("trace", &trace);
        assert_eq!(trace.status, expected);
        assert_eq!(written["plan_id"], PLAN_ID);
        assert_eq!(
            (&written["context_id"], &written["root_span"]["context_id"]),
            (&json!(CONTEXT_ID), &json!(CONTEXT_ID))
        );
        assert_eq!(written["root_span"]["trace_id"], written["trace_id"]);
        assert_eq!(written["meta"]["schema_version"], "1.0.0");
        assert_eq!(written["events"][0]["trace_id"], written["trace_id"]);
    }
}

#[test]
fn the_agents_own_trace_is_kept_but_for_its_context() {
    let mut given = plan();
    let base = json!({ "trace_id": STEPS[0], "span_id": STEPS[1], "parent_span_id": STEPS[2], "context_id": PLAN_ID });
    given.document.trace = serde_json::from_value(base).unwrap();
    let trace = document(&given);
    assert_eq!(trace.trace_id, id(STEPS[0]));
    assert_eq!(
        (&trace.root_span.span_id, trace.root_span.parent_span_id.as_ref()),
        (&id(STEPS[1]), Some(&id(STEPS[2])))
    );
    assert_eq!(trace.root_span.context_id, Some(id(CONTEXT_ID)));
    assert_eq!(document(&plan()), document(&plan()));
    assert_ne!(document(&plan()).trace_id, trace.trace_id);
}

#[test]
fn every_step_is_a_segment_with_the_moments_at_which_it_moved() {
    let at = |n| ASKED.plus_secs(n);
    let events = vec![
        event(1, "plan.created", ASKED, None),
        event(2, "plan.in.progress", at(1), None),
        event(3, "step.in.progress", at(2), Some(STEPS[0])),
        event(4, "step.completed", at(3), Some(STEPS[0])),
        event(5, "step.in.progress", at(4), Some(STEPS[1])),
    ];
    let steps = [StepStatus::Completed, StepStatus::InProgress, StepStatus::Pending];
    let trace = document(&with(PlanStatus::InProgress, steps, events.clone()));
    let told: Vec<_> = trace.segments.iter().map(|one| (one.status, one.started_at, one.finished_at)).collect();
    let expected = [
        (SegmentStatus::Completed, Some(at(2)), Some(at(3))),
        (SegmentStatus::Running, Some(at(4)), None),
        (SegmentStatus::Pending, None, None),
    ];
    assert_eq!(told, expected);
    assert_eq!((trace.started_at, trace.finished_at), (Some(at(1)), None));
    assert_eq!(trace.segments[1].label, "Step 1 for Carol");
    let named = json!({ "step_id": STEPS[1], "tool": "pay", "uses": 2, "done": 0 });
    assert_eq!(json!(trace.segments[1].attributes), named);
    assert_eq!(json!(trace.segments[0].attributes), json!({ "step_id": STEPS[0] }));
    let over = [events, vec![event(6, "plan.cancelled", DECIDED, None)]].concat();
    let over = document(&with(PlanStatus::Cancelled, steps, over));
    let told: Vec<_> = over.segments.iter().map(|one| one.status).collect();
    assert_eq!(told, [SegmentStatus::Completed, SegmentStatus::Cancelled, SegmentStatus::Cancelled]);
    assert_eq!(over.finished_at, Some(DECIDED));
    sound("trace", &over);
}

#[test]
fn blocked_steps_wait_and_omitted_steps_are_skipped() {
    let steps = [StepStatus::Failed, StepStatus::Blocked, StepStatus::Skipped];
    let trace = document(&with(PlanStatus::Failed, steps, Vec::new()));
    let told: Vec<_> = trace.segments.iter().map(|one| one.status).collect();
    assert_eq!(told, [SegmentStatus::Failed, SegmentStatus::Pending, SegmentStatus::Skipped]);
}
