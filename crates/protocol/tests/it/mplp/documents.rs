//! One valid document of every kind, with all optional members.

use serde_json::{Value, json};

pub(crate) const ID: &str = "550e8400-e29b-41d4-a716-446655440004";
pub(crate) const OTHER_ID: &str = "550e8400-e29b-41d4-a716-446655440001";

/// Documents sent to us.
pub(crate) const READ: [&str; 5] = ["confirm", "plan", "trace", "role", "event"];

/// Documents that only we write.
pub(crate) const WRITTEN: [&str; 6] =
    ["bus-event", "pipeline-stage", "graph-update", "runtime-execution", "learning-sample", "learning-sample-intent"];

pub(crate) fn document(name: &str) -> Value {
    match name {
        "confirm" => confirm(),
        "plan" => plan(),
        "trace" => trace(),
        "role" => role(),
        "event" => event(),
        "bus-event" => bus_event("cost_budget", json!({})),
        "pipeline-stage" => bus_event(
            "pipeline_stage",
            json!({ "pipeline_id": ID, "stage_id": "confirm", "stage_name": "Approval", "stage_status": "completed", "stage_order": 1 }),
        ),
        "graph-update" => bus_event(
            "graph_update",
            json!({ "graph_id": ID, "update_kind": "node_add", "node_delta": 1, "edge_delta": -1, "source_module": "confirm" }),
        ),
        "runtime-execution" => bus_event(
            "runtime_execution",
            json!({ "execution_id": ID, "executor_kind": "tool", "executor_role": "worker", "status": "running" }),
        ),
        "learning-sample" => learning_sample(),
        "learning-sample-intent" => learning_sample_intent(),
        _ => panic!("there is no document of the name {name}"),
    }
}

/// The document with one value replaced or one member added.
pub(crate) fn with(mut document: Value, place: &str, value: Value) -> Value {
    if let Some(held) = document.pointer_mut(place) {
        *held = value;
        return document;
    }
    let (parent, member) = place.rsplit_once('/').unwrap();
    document.pointer_mut(parent).unwrap()[member] = value;
    document
}

pub(crate) fn without(mut document: Value, place: &str) -> Value {
    let (parent, member) = place.rsplit_once('/').unwrap();
    let held = document.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    held.remove(member).unwrap_or_else(|| panic!("no {place} to take away"));
    document
}

fn meta() -> Value {
    json!({
        "protocol_version": "1.0.0",
        "schema_version": "1.0.0",
        "created_at": "2025-12-07T00:00:00Z",
        "created_by": "countersign",
        "updated_at": "2025-12-07T00:05:00.125Z",
        "updated_by": "countersign",
        "tags": ["billing"],
        "cross_cutting": ["security", "error-handling"],
    })
}

fn trace_base() -> Value {
    json!({
        "trace_id": ID, "span_id": OTHER_ID, "parent_span_id": ID, "context_id": ID, "attributes": { "module": "plan" },
    })
}

fn event() -> Value {
    json!({
        "event_id": ID,
        "event_type": "confirm.requested",
        "source": "confirm",
        "timestamp": "2025-12-07T01:00:00+01:00",
        "trace_id": ID,
        "data": { "confirm_id": ID },
    })
}

fn governance() -> Value {
    json!({
        "lifecyclePhase": "review",
        "truthDomain": "payments",
        "locked": false,
        "lastConfirmRef": { "id": ID, "module": "confirm", "description": "the one before" },
    })
}

fn confirm() -> Value {
    json!({
        "meta": meta(),
        "confirm_id": ID,
        "target_type": "plan",
        "target_id": OTHER_ID,
        "status": "approved",
        "requested_by_role": "role-planner-001",
        "requested_at": "2025-12-07T00:00:00Z",
        "reason": "Repairs the login",
        "decisions": [{
            "decision_id": ID,
            "status": "approved",
            "decided_by_role": "role-reviewer-001",
            "decided_at": "2025-12-07T00:05:00Z",
            "reason": "Good",
        }],
        "trace": trace_base(),
        "events": [event()],
        "governance": governance(),
    })
}

fn plan() -> Value {
    json!({
        "meta": meta(),
        "plan_id": ID,
        "context_id": OTHER_ID,
        "title": "Repair the login",
        "objective": "Nobody meets the error any more",
        "status": "draft",
        "steps": [
            { "step_id": OTHER_ID, "description": "Find the fault", "status": "completed" },
            {
                "step_id": ID,
                "description": "Put it right",
                "status": "pending",
                "dependencies": [OTHER_ID],
                "agent_role": "engineer",
                "order_index": 1,
            },
        ],
        "trace": trace_base(),
        "events": [event()],
    })
}

fn trace() -> Value {
    json!({
        "meta": meta(),
        "governance": governance(),
        "trace_id": ID,
        "context_id": OTHER_ID,
        "plan_id": ID,
        "root_span": trace_base(),
        "status": "running",
        "started_at": "2025-12-07T00:00:00Z",
        "finished_at": "2025-12-07T00:05:00Z",
        "segments": [{
            "segment_id": ID,
            "parent_segment_id": OTHER_ID,
            "label": "pay",
            "status": "skipped",
            "started_at": "2025-12-07T00:00:00Z",
            "finished_at": "2025-12-07T00:05:00Z",
            "attributes": {},
        }],
        "events": [event()],
    })
}

fn role() -> Value {
    json!({
        "meta": meta(),
        "governance": governance(),
        "role_id": ID,
        "name": "reviewer",
        "description": "Reads plans before they run",
        "capabilities": ["confirm.approve"],
        "created_at": "2025-12-07T00:00:00Z",
        "updated_at": "2025-12-07T00:05:00Z",
        "trace": trace_base(),
        "events": [event()],
    })
}

fn bus_event(family: &str, members: Value) -> Value {
    let mut event = json!({
        "event_id": ID,
        "event_type": "confirm_resolved",
        "event_family": family,
        "timestamp": "2025-12-07T00:05:00Z",
        "project_id": OTHER_ID,
        "payload": { "confirm_id": ID },
    });
    event.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    event
}

fn learning_sample() -> Value {
    json!({
        "sample_id": ID,
        "sample_family": "confirm_decision",
        "created_at": "2025-12-07T00:05:00Z",
        "input": { "confirm_id": ID },
        "state": { "project_phase": "review" },
        "output": { "decision": "approve" },
        "meta": {
            "source_flow_id": "plans",
            "source_event_ids": [ID],
            "project_id": OTHER_ID,
            "human_feedback_label": "approved",
            "quality_score": 0.5,
        },
    })
}

fn learning_sample_intent() -> Value {
    let mut sample = learning_sample();
    sample["sample_family"] = json!("intent_resolution");
    sample["input"] = json!({
        "intent_id": ID, "raw_request_summary": "Repair it", "constraints_summary": "none", "dialog_turns_count": 2,
    });
    sample["state"] = json!({ "project_phase": "review", "psg_node_count": 3, "existing_plan_count": 1 });
    sample["output"] = json!({
        "final_intent_summary": "Repair it",
        "plan_id": ID,
        "plan_step_count": 2,
        "resolution_quality_label": "good",
    });
    sample["meta"]["clarification_rounds"] = json!(1);
    sample["meta"]["ambiguity_flags"] = json!(["amount"]);
    sample
}
