//! Observer events, derived from the evidence of the steps that caused them (MPLP 4.3).

use crate::mplp_rows::{
    ASKED, CONFIRM_ID, DECIDED, PLAN_ID, STEPS, asked, asked_about, asked_plan, bob, bob_replies, clarification,
    due_view, env, place, project, sound, told, told_of,
};
use countersign_core::{
    decision::{
        cancel::{CancelQuestion, Live, Withdraw},
        due::QuestionDue,
    },
    evidence::DraftEntry,
    mplp::confirm,
    records::{CancelledFor, Decision, Plan, Record},
    step::{Effects, EvidenceDraft, Operation},
};
use countersign_protocol::{
    aaep::event::YesNo,
    mplp::{BusEvent, PlanStatus},
    time::UnixMillis,
};
use serde_json::{Value, json};

const NOTHING: [Value; 0] = [];

/// An evidence entry with these open members.
fn entry(event_type: &'static str, at: UnixMillis, members: Vec<(&'static str, Value)>) -> EvidenceDraft {
    let (key, project) = place();
    let begun =
        DraftEntry::new((key, &project), event_type, at).hidden("reason", "Carol's words").hidden("decided_by", "bob");
    let whole = members.into_iter().fold(begun, |entry, (name, value)| entry.open(name, value));
    whole.seal(&mut env(at).mint()).unwrap()
}

fn events(event_type: &'static str, members: Vec<(&'static str, Value)>) -> Vec<Value> {
    sound_events(&told_of(&entry(event_type, DECIDED, members), &project(json!({}))))
}

fn sound_events(told: &[BusEvent]) -> Vec<Value> {
    let schema = |event: &BusEvent| match serde_json::to_value(event).unwrap()["event_family"].as_str().unwrap() {
        "pipeline_stage" => "pipeline-stage",
        "graph_update" => "graph-update",
        _ => "runtime-execution",
    };
    told.iter().map(|event| sound(schema(event), event)).collect()
}

fn types(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["event_type"].as_str().unwrap()).collect()
}

fn proposed() -> Plan {
    let mut plan = asked_plan(CONFIRM_ID);
    plan.document.status = PlanStatus::Proposed;
    plan
}

/// Settles the decision in every possible way; returns the row and its evidence.
fn every_settlement(decision: &Decision, plan: Option<Plan>) -> Vec<(&'static str, Decision, Vec<EvidenceDraft>)> {
    let view = || due_view(decision.clone(), plan.clone());
    let withdrawn = Withdraw { reason: Some("Carol's words".into()) }.decide(&view(), &env(DECIDED)).unwrap().effects;
    let off = CancelQuestion { by: bob(), reason: None, by_override: false };
    let off = off.decide(&view(), &env(DECIDED)).unwrap().effects;
    let late = QuestionDue { serving_since: ASKED, nobody_there: true };
    let expired = late.decide(&view(), &env(DECIDED)).unwrap().effects;
    let mut revoked = Effects::default();
    let live = Live { decisions: vec![decision.clone()], plans: plan.iter().cloned().collect(), ..Live::default() };
    live.cancel(&place(), CancelledFor::Revoked, &env(DECIDED), &mut env(DECIDED).mint(), &mut revoked).unwrap();
    let (yes, no) = (
        bob_replies(decision.clone(), plan.clone(), YesNo::Accept),
        bob_replies(decision.clone(), plan.clone(), YesNo::Reject),
    );
    let ended = [withdrawn, off, expired, revoked].map(|effects| (written(&effects), effects.evidence));
    let [withdrawn, off, expired, revoked] = ended;
    let all = [
        ("approved", yes),
        ("rejected", no),
        ("cancelled", withdrawn),
        ("cancelled", off),
        ("cancelled", expired),
        ("cancelled", revoked),
    ];
    all.into_iter().map(|(status, (decision, evidence))| (status, decision, evidence)).collect()
}

fn written(effects: &Effects) -> Decision {
    let row = effects.puts.iter().find_map(|put| match put {
        Record::Decision(decision) => Some(decision.clone()),
        _ => None,
    });
    row.unwrap()
}

/// MPLP-4.3-05, MPLP-4.3-06, MPLP-4.3-07
#[test]
fn a_settled_plan_has_an_approved_or_rejected_event_and_always_a_resolved_one() {
    for (status, decision, evidence) in every_settlement(&asked_about("plan", PLAN_ID), Some(proposed())) {
        let all = sound_events(&told(&evidence, &project(json!({}))));
        let of_confirm: Vec<Value> = all.into_iter().filter(|event| event["stage_id"] == "confirm").collect();
        let (expected, stage) = match status {
            "approved" => (vec!["plan_approved", "confirm_resolved"], "completed"),
            "rejected" => (vec!["plan_rejected", "confirm_resolved"], "failed"),
            _ => (vec!["confirm_resolved"], "skipped"),
        };
        assert_eq!(types(&of_confirm), expected);
        let record = confirm::document(&decision, &project(json!({})));
        assert_eq!(record.events[1].timestamp, DECIDED);
        for event in of_confirm {
            assert_eq!(event["event_family"], "pipeline_stage");
            assert_eq!((&event["pipeline_id"], &event["stage_status"]), (&json!(PLAN_ID), &json!(stage)));
            assert_eq!(event["timestamp"], json!(DECIDED.to_rfc3339()));
            let payload = json!({
                "confirm_id": record.confirm_id, "decision_id": record.decisions[0].decision_id, "plan_id": PLAN_ID,
                "decided_by": record.decisions[0].decided_by_role, "status": status,
            });
            assert_eq!(event["payload"], payload);
        }
    }
}

/// MPLP-4.3-06, MPLP-4.3-07
#[test]
fn any_other_settled_question_has_a_resolved_event_that_names_no_plan() {
    let targets = ["context", "trace", "extension", "other"].map(|kind| asked_about(kind, STEPS[0]));
    for decision in targets.into_iter().chain([asked()]) {
        for (status, decision, evidence) in every_settlement(&decision, None) {
            let all = sound_events(&told(&evidence, &project(json!({}))));
            assert_eq!(types(&all), ["decision_added", "confirm_resolved"]);
            let record = confirm::document(&decision, &project(json!({})));
            let resolved = &all[1];
            assert_eq!(resolved["pipeline_id"], CONFIRM_ID);
            assert_eq!(resolved["payload"]["status"], status);
            assert_eq!(resolved["payload"]["decided_by"], record.decisions[0].decided_by_role);
            assert_eq!(resolved["payload"].get("plan_id"), None);
        }
    }
}

/// MPLP-4.3-06
#[test]
fn a_question_in_words_is_sent_to_nobody_here() {
    assert_eq!(
        events("decision_raised", vec![("decision_id", json!("dec_1")), ("kind", json!("clarification"))]),
        NOTHING
    );
    let view = || due_view(clarification(), None);
    let withdrawn = Withdraw { reason: None }.decide(&view(), &env(DECIDED)).unwrap().effects;
    let expired =
        QuestionDue { serving_since: ASKED, nobody_there: true }.decide(&view(), &env(DECIDED)).unwrap().effects;
    for effects in [withdrawn, expired] {
        assert!(!effects.evidence.is_empty());
        assert_eq!(told(&effects.evidence, &project(json!({}))), []);
    }
}

/// MPLP-4.3-08
#[test]
fn a_cancelled_confirm_event_says_that_the_plan_is_a_draft_again() {
    for (status, _, evidence) in every_settlement(&asked_about("plan", PLAN_ID), Some(proposed())) {
        let all = sound_events(&told(&evidence, &project(json!({}))));
        let changed: Vec<&Value> = all.iter().filter(|event| event["event_type"] == "plan_status_changed").collect();
        let to = if status == "approved" { "approved" } else { "draft" };
        assert_eq!(changed.len(), 1, "{status}");
        assert_eq!(
            changed[0]["payload"],
            json!({ "plan_id": PLAN_ID, "confirm_id": CONFIRM_ID, "from": "proposed", "to": to })
        );
        assert_eq!((&changed[0]["pipeline_id"], &changed[0]["stage_status"]), (&json!(PLAN_ID), &json!("pending")));
        assert!(status == "approved" || !all.iter().any(|event| event["event_type"] == "plan_approved"));
    }
}

#[test]
fn a_question_is_a_new_pending_confirm_event() {
    let plan = vec![("target_type", json!("plan")), ("target_id", json!(PLAN_ID)), ("kind", json!("plan_approval"))];
    for (target, pipeline, target_id, edges) in [(vec![], CONFIRM_ID, CONFIRM_ID, 0), (plan, PLAN_ID, PLAN_ID, 1)] {
        let about_plan = !target.is_empty();
        let all = events("decision_raised", [vec![("decision_id", json!(asked().id))], target].concat());
        assert_eq!(types(&all), ["confirm_created", "confirm_pending"]);
        assert_eq!(
            (&all[0]["update_kind"], &all[0]["node_delta"], &all[0]["edge_delta"]),
            (&json!("node_add"), &json!(1), &json!(edges))
        );
        assert_eq!((&all[1]["pipeline_id"], &all[1]["stage_status"]), (&json!(pipeline), &json!("pending")));
        for event in &all {
            assert_eq!(
                (&event["payload"]["confirm_id"], &event["payload"]["target_id"]),
                (&json!(CONFIRM_ID), &json!(target_id))
            );
            assert_eq!(event["payload"].get("plan_id").is_some(), about_plan);
        }
    }
}

#[test]
fn a_plan_and_its_steps_are_events_of_one_pipeline() {
    let all = events("plan_created", vec![("plan_id", json!(PLAN_ID)), ("steps", json!(3))]);
    assert_eq!(types(&all), ["plan_created"]);
    assert_eq!((&all[0]["node_delta"], &all[0]["source_module"]), (&json!(4), &json!("plan")));
    let moved = |from: &str, to: &str, step: Option<&str>| {
        let step = step.map(|step| ("step_id", json!(step)));
        let members = vec![("plan_id", json!(PLAN_ID)), ("from", json!(from)), ("to", json!(to))];
        let [event] =
            <[Value; 1]>::try_from(events("plan_changed", members.into_iter().chain(step).collect())).unwrap();
        assert_eq!(event["pipeline_id"], PLAN_ID);
        [&event["event_type"], &event["stage_id"], &event["stage_status"]]
            .map(|member| member.as_str().unwrap().to_owned())
    };
    for (to, stage) in [
        ("proposed", "pending"),
        ("approved", "pending"),
        ("in_progress", "running"),
        ("completed", "completed"),
        ("failed", "failed"),
        ("cancelled", "skipped"),
    ] {
        assert_eq!(moved("draft", to, None), ["plan_status_changed", "plan", stage]);
    }
    for (to, event_type, stage) in [
        ("in_progress", "step_started", "running"),
        ("completed", "step_completed", "completed"),
        ("failed", "step_failed", "failed"),
        ("skipped", "step_skipped", "skipped"),
        ("blocked", "step_blocked", "pending"),
    ] {
        assert_eq!(moved("pending", to, Some(STEPS[0])), [event_type, STEPS[0], stage]);
    }
}

#[test]
fn an_executed_call_is_reported_with_its_outcome() {
    let of = |event_type, outcome: Option<&str>| {
        let begun =
            vec![("decision_id", json!(asked().id)), ("execution_id", json!("exe_3f2b8c1d5e6f4a7b8c9d0e1f2a3b4c5e"))];
        let plan = vec![("target_type", json!("plan")), ("target_id", json!(PLAN_ID)), ("step_id", json!(STEPS[1]))];
        let outcome = outcome.map(|outcome| ("outcome", json!(outcome)));
        let [event] =
            <[Value; 1]>::try_from(events(event_type, begun.into_iter().chain(plan).chain(outcome).collect())).unwrap();
        assert_eq!(event["execution_id"], "3f2b8c1d-5e6f-4a7b-8c9d-0e1f2a3b4c5e");
        assert_eq!(event["payload"], json!({ "confirm_id": CONFIRM_ID, "plan_id": PLAN_ID, "step_id": STEPS[1] }));
        [&event["event_type"], &event["status"]].map(|member| member.as_str().unwrap().to_owned())
    };
    assert_eq!(of("execution_claimed", None), ["tool_execution_started", "running"]);
    assert_eq!(of("execution_settled", Some("committed")), ["tool_execution_completed", "completed"]);
    assert_eq!(of("execution_settled", Some("failed")), ["tool_execution_completed", "failed"]);
    assert_eq!(of("execution_unknown", None), ["tool_execution_unknown", "running"]);
}

/// MPLP-4.3-05
#[test]
fn every_event_has_an_id_of_its_own_that_stays() {
    let all = every_settlement(&asked_about("plan", PLAN_ID), Some(proposed()));
    let (_, _, evidence) = &all[0];
    let ids = || told(evidence, &project(json!({}))).into_iter().map(|event| event.event_id).collect::<Vec<_>>();
    let mut distinct = ids();
    assert_eq!(distinct, ids());
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), ids().len());
    assert!(distinct.len() >= 4);
    let of = |at| {
        told_of(&entry("plan_created", at, vec![("plan_id", json!(PLAN_ID))]), &project(json!({})))[0].event_id.clone()
    };
    assert_ne!(of(ASKED), of(DECIDED));
}

///
#[test]
fn members_hidden_in_the_evidence_are_revealed_to_nobody() {
    let members = vec![("plan_id", json!(PLAN_ID)), ("from", json!("proposed")), ("to", json!("draft"))];
    let mut all = events("plan_changed", members);
    for (_, _, evidence) in every_settlement(&asked_about("plan", PLAN_ID), Some(proposed())) {
        all.extend(sound_events(&told(&evidence, &project(json!({})))));
    }
    let text = serde_json::to_string(&all).unwrap();
    assert!(all.len() > 10 && !text.contains("Carol") && !text.contains("bob") && !text.contains("82,000"), "{text}");
}

#[test]
fn other_signals_are_sent_to_nobody_here() {
    assert_eq!(events("call", vec![("outcome", json!("committed"))]), NOTHING);
    assert_eq!(events("plan_changed", vec![("plan_id", json!("plan-123"))]), NOTHING);
    assert_eq!(events("decision_settled", vec![("decision_id", json!("dec_1"))]), NOTHING);
}
