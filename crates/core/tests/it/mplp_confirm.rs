//! Confirm documents as views of decisions (MPLP 2 and 3).

use crate::mplp_rows::{
    ASKED, CONFIRM_ID, DECIDED, DECISION_ID, PLAN_ID, STEPS, accepted, asked, asked_about, ballot, cancelled,
    every_end, expired, id, project, rejected, settled, sound,
};
use countersign_core::{mplp::confirm, records::Decision};
use countersign_protocol::mplp::{Confirm, ConfirmStatus, DecisionStatus, MplpId, TargetType};
use serde_json::json;

fn document(decision: &Decision) -> Confirm {
    confirm::document(decision, &project(json!({})))
}

/// The Confirm's status, and the status, role and reason of its only decision.
fn decided(decision: &Decision) -> (ConfirmStatus, DecisionStatus, String, Option<String>) {
    let confirm = document(decision);
    let [one] = confirm.decisions.as_slice() else { panic!("{:?}", confirm.decisions) };
    (confirm.status, one.status, one.decided_by_role.clone(), one.reason.clone())
}

/// MPLP-2.1-02, MPLP-6-02
#[test]
fn a_decision_and_its_confirm_have_the_same_digits() {
    assert_eq!(confirm::confirm_id(&asked()).as_str(), CONFIRM_ID);
    assert_eq!(confirm::decision_id(&id(CONFIRM_ID)), DECISION_ID);
    for old in ["dec_00000000000000000000000000000000", "dec_3F2B8C1D5E6F4A7B8C9D0E1F2A3B4C5D", "dec_1", ""] {
        let decision = Decision { id: old.into(), ..asked() };
        let given = confirm::confirm_id(&decision);
        assert_eq!(MplpId::parse(given.as_str()), Ok(given.clone()), "{old}");
        assert_eq!(confirm::confirm_id(&decision), given);
        assert_ne!(given.as_str(), CONFIRM_ID);
    }
}

/// MPLP-2.1-01, MPLP-2.1-02, MPLP-2.1-04, MPLP-2.1-07, MPLP-2.2-04, MPLP-2.4-01
#[test]
fn every_confirm_is_sound_with_any_outcome() {
    for target in ["context", "plan", "trace", "extension", "other"] {
        let about = asked_about(target, PLAN_ID);
        for decision in [vec![about.clone()], every_end(&about), vec![asked()], every_end(&asked())].concat() {
            let written = sound("confirm", &document(&decision));
            assert_eq!(written["meta"]["protocol_version"], "1.0.0");
            assert_eq!(written["meta"]["schema_version"], "1.0.0");
            assert_eq!(written["meta"]["created_by"], "countersign");
            for event in written["events"].as_array().unwrap() {
                sound("event", event);
            }
        }
    }
}

/// MPLP-6-02, MPLP-3.1-02
#[test]
fn a_new_question_is_pending_and_has_no_decision() {
    let confirm = document(&asked());
    assert_eq!(confirm.status, ConfirmStatus::Pending);
    assert_eq!(confirm.decisions, []);
    assert_eq!((confirm.requested_at, confirm.meta.created_at), (ASKED, Some(ASKED)));
    assert_eq!(confirm.meta.updated_at, None);
    let told: Vec<_> = confirm.events.iter().map(|event| (event.event_type.as_str(), event.timestamp)).collect();
    assert_eq!(told, [("confirm.requested", ASKED)]);
}

/// MPLP-2.3-06, MPLP-2.3-01
#[test]
fn one_action_is_its_own_target_and_anything_else_has_the_named_one() {
    let confirm = document(&asked());
    assert_eq!((confirm.target_type, confirm.target_id.as_str()), (TargetType::Other, CONFIRM_ID));
    assert_eq!(document(&accepted(&asked(), None)).status, ConfirmStatus::Approved);
    let of_step = document(&asked_about("other", STEPS[0]));
    assert_eq!((of_step.target_type, of_step.target_id.as_str()), (TargetType::Other, STEPS[0]));
    let of_plan = document(&asked_about("plan", PLAN_ID));
    assert_eq!((of_plan.target_type, of_plan.target_id.as_str()), (TargetType::Plan, PLAN_ID));
}

/// MPLP-4.3-01, MPLP-4.3-02, MPLP-2.4-03
#[test]
fn the_confirm_has_one_decision_of_the_persons_role_and_takes_its_status() {
    let yes = decided(&accepted(&asked(), Some("As agreed")));
    assert_eq!(yes, (ConfirmStatus::Approved, DecisionStatus::Approved, "approver".into(), Some("As agreed".into())));
    let no = decided(&rejected(&asked(), Some("Too much")));
    assert_eq!(no, (ConfirmStatus::Rejected, DecisionStatus::Rejected, "approver".into(), Some("Too much".into())));
    // The sender's claim about the deciding person does not appear in the document.
    let written = serde_json::to_string(&document(&accepted(&asked(), None))).unwrap();
    assert!(!written.contains("Robert") && !written.contains("bob"));
}

/// MPLP-2.4-05
#[test]
fn a_rejection_always_has_a_reason_and_an_approval_only_a_given_one() {
    for nothing in [None, Some(""), Some(" \n")] {
        assert_eq!(decided(&rejected(&asked(), nothing)).3.as_deref(), Some("rejected without a reason"));
        assert_eq!(decided(&accepted(&asked(), nothing)).3, None);
    }
    let written = serde_json::to_value(document(&accepted(&asked(), None))).unwrap();
    assert_eq!(written["decisions"][0].get("reason"), None);
}

/// MPLP-4.3-10
#[test]
fn an_unanswered_question_is_cancelled_by_the_timeout_and_never_approved() {
    for as_if in ["accept", "reject"] {
        let (status, decision, role, reason) = decided(&expired(&asked_about("plan", PLAN_ID), as_if));
        assert_eq!((status, decision), (ConfirmStatus::Cancelled, DecisionStatus::Cancelled));
        assert_eq!((role.as_str(), reason.as_deref()), ("system:timeout", Some("expired")));
    }
}

#[test]
fn the_canceller_is_named_by_role() {
    let of = |decision: Decision| {
        let (status, decision, role, reason) = decided(&decision);
        assert_eq!((status, decision), (ConfirmStatus::Cancelled, DecisionStatus::Cancelled));
        (role, reason)
    };
    assert_eq!(of(cancelled(&asked(), "withdrawn", Some("Not needed"))), ("agent".into(), Some("Not needed".into())));
    assert_eq!(of(cancelled(&asked(), "withdrawn", None)), ("agent".into(), None));
    assert_eq!(of(cancelled(&asked(), "revoked", None)), ("system:revoked".into(), Some("revoked".into())));
    assert_eq!(
        of(cancelled(&asked(), "session_over", None)),
        ("system:session_over".into(), Some("session_over".into()))
    );
    let state =
        json!({ "is": "cancelled", "at": DECIDED, "why": "taken_back", "by": ballot("admin"), "reason": "Wait" });
    assert_eq!(of(settled(&asked(), state)), ("admin".into(), Some("Wait".into())));
}

/// MPLP-2.4-04
#[test]
fn one_clock_reading_stands_in_the_decision_its_event_and_updated_at() {
    for decision in every_end(&asked_about("plan", PLAN_ID)) {
        let confirm = document(&decision);
        assert_eq!(confirm.decisions[0].decided_at, DECIDED);
        assert_eq!(confirm.meta.updated_at, Some(DECIDED));
        let [requested, settled] = confirm.events.as_slice() else { panic!("{:?}", confirm.events) };
        assert_eq!((requested.timestamp, settled.timestamp), (ASKED, DECIDED));
        let word = serde_json::to_value(confirm.status).unwrap();
        assert_eq!(settled.event_type, format!("confirm.{}", word.as_str().unwrap()));
        let data = settled.data.as_ref().unwrap();
        assert_eq!(data["confirm_id"], CONFIRM_ID);
        assert_eq!(data["decision_id"], json!(confirm.decisions[0].decision_id));
    }
}

/// MPLP-2.4-01
#[test]
fn the_ids_inside_are_the_same_at_every_rendering_and_all_different() {
    let once = document(&rejected(&asked(), None));
    assert_eq!(once, document(&rejected(&asked(), None)));
    let other = Decision { id: "dec_aaaabbbbcccc4dddaeeeffff00001111".into(), ..asked() };
    let other = document(&rejected(&other, None));
    let ids = |confirm: &Confirm| {
        let events = confirm.events.iter().map(|event| event.event_id.clone());
        events.chain([confirm.confirm_id.clone(), confirm.decisions[0].decision_id.clone()]).collect::<Vec<_>>()
    };
    let mut all = [ids(&once), ids(&other)].concat();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 8);
}

/// MPLP-2.1-06
#[test]
fn the_requesters_role_is_as_it_was_written_or_the_agents_own() {
    assert_eq!(document(&asked()).requested_by_role, "agent");
    let mut named = asked_about("plan", PLAN_ID);
    named.target.as_mut().unwrap().requested_by_role = STEPS[0].into();
    assert_eq!(document(&named).requested_by_role, STEPS[0]);
    assert_eq!(decided(&cancelled(&named, "withdrawn", None)).2, STEPS[0]);
    let acme = project(json!({ "roles": [{ "name": "acme", "members": ["operator:acme.test"] }] }));
    assert_eq!(confirm::document(&asked(), &acme).requested_by_role, "acme");
}

#[test]
fn the_reason_is_the_requesters_or_names_the_question() {
    assert_eq!(document(&asked_about("plan", PLAN_ID)).reason.as_deref(), Some("Move the accounts"));
    assert_eq!(document(&asked()).reason.as_deref(), Some("approval is needed: Pay 82,000 USD"));
    let mut silent = asked_about("plan", PLAN_ID);
    silent.target.as_mut().unwrap().reason = Some(" ".into());
    assert_eq!(document(&silent).reason.as_deref(), Some("approval is needed: Pay 82,000 USD"));
}

#[test]
fn the_trace_is_the_requesters_own_or_within_that_of_the_plan() {
    let given = json!({ "trace_id": STEPS[0], "span_id": STEPS[1] });
    let mut traced = asked_about("plan", PLAN_ID);
    traced.target.as_mut().unwrap().trace = serde_json::from_value(given.clone()).unwrap();
    assert_eq!(serde_json::to_value(document(&traced).trace).unwrap(), given);
    let plan = countersign_core::mplp::trace::document(&crate::mplp_rows::plan());
    let trace = document(&asked_about("plan", PLAN_ID)).trace.unwrap();
    assert_eq!(trace.trace_id, plan.trace_id);
    assert_eq!(trace.parent_span_id, Some(plan.root_span.span_id));
    let alone = document(&asked()).trace.unwrap();
    assert!(alone.trace_id != trace.trace_id && alone.parent_span_id.is_none());
}

#[test]
fn a_lock_is_shown_and_a_decision_in_spite_of_it_is_recorded_as_such() {
    let governance = json!({ "locked": true, "lifecyclePhase": "review" });
    let locked = Decision { governance: serde_json::from_value(governance.clone()).unwrap(), ..asked() };
    assert_eq!(sound("confirm", &document(&locked))["governance"], governance);
    assert_eq!(sound("confirm", &document(&asked())).get("governance"), None);
    let by_override = |decision: &Decision, by_override: bool| {
        let mut by = ballot("admin");
        by["by_override"] = json!(by_override);
        let decision = settled(decision, json!({ "is": "accepted", "by": by }));
        document(&decision).events[1].data.as_ref().unwrap().get("override").cloned()
    };
    assert_eq!(by_override(&locked, true), Some(json!(true)));
    assert_eq!(by_override(&locked, false), None);
    assert_eq!(by_override(&asked(), true), None);
}
