use super::*;
use countersign_protocol::time::UnixMillis;
use serde_json::json;

fn decision(state: State) -> DecisionDocument {
    let document = json!({
        "decision_id": "dec_1", "kind": "confirmation", "state": state, "session_id": "sess_1", "digest": "00",
        "risk_level": "high", "irreversible": true, "asked_at": "2026-11-15T12:00:00Z",
        "page": "https://service.example/inbox/p/dec_1",
    });
    serde_json::from_value(document).unwrap()
}

fn allowing(state: State, allowance: &str, execution: Option<&str>) -> DecisionDocument {
    let until = UnixMillis(60_000);
    let execution = execution.map(|state| ExecutionDocument {
        execution_id: "exe_1".into(),
        state: serde_json::from_value(json!(state)).unwrap(),
        lease_until: None,
        conflict: false,
    });
    let uses_left = i64::from(allowance == "open");
    let allowance =
        Some(AllowanceDocument { state: serde_json::from_value(json!(allowance)).unwrap(), uses_left, until });
    DecisionDocument { allowance, execution, ..decision(state) }
}

#[test]
fn only_an_open_approval_is_offered_to_be_begun() {
    for state in [State::Pending, State::Rejected, State::Answered, State::Expired, State::Cancelled] {
        assert!(!after(&decision(state)).contains("begin_action"), "{state:?}");
    }
    for spent in [
        allowing(State::Accepted, "lapsed", None),
        allowing(State::Accepted, "cancelled", None),
        allowing(State::Accepted, "spent", Some("committed")),
        allowing(State::Accepted, "spent", Some("unknown")),
        allowing(State::Accepted, "spent", Some("claimed")),
    ] {
        assert!(!after(&spent).contains("begin_action"), "{spent:?}");
    }
    assert!(after(&allowing(State::Accepted, "open", None)).contains("begin_action"));
    assert!(after(&allowing(State::Expired, "open", None)).contains("begin_action"), "silence that means yes");
    assert!(
        after(&allowing(State::Accepted, "open", Some("committed"))).contains("begin_action"),
        "one use of several"
    );
}

#[test]
fn a_person_without_entitlement_reads_that_they_cannot_act() {
    for state in [State::Pending, State::Rejected, State::Expired, State::Cancelled] {
        assert!(after(&decision(state)).contains("do not do it"), "{state:?}");
    }
    assert!(after(&allowing(State::Accepted, "lapsed", None)).contains("do not do it"));
    assert!(after(&allowing(State::Accepted, "spent", Some("unknown"))).contains("do not do it again"));
}

#[test]
fn a_question_of_the_gateway_is_executed_through_the_gateway() {
    let held = DecisionDocument { redeem: Some("https://x".into()), ..allowing(State::Accepted, "open", None) };
    let next = after(&held);
    assert!(next.contains("gateway") && !next.contains("begin_action"), "{next}");
}

/// An approved plan consists of its steps: neither the plan's own decision nor the outcome of one step ends it.
#[test]
fn an_approved_plan_is_gone_through_step_by_step() {
    let plan_id = Some("8d5b1f0a-3c27-4e94-9a61-2f7d40c3b815".parse().unwrap());
    let approved = DecisionDocument { plan_id: plan_id.clone(), ..decision(State::Accepted) };
    let one_done = DecisionDocument {
        plan_id: plan_id.clone(),
        allowance: None,
        ..allowing(State::Accepted, "spent", Some("committed"))
    };
    for of_plan in [approved, one_done] {
        let next = after(&of_plan);
        assert!(
            ["request_confirmation", "report_step", "plan_status"].iter().all(|tool| next.contains(tool)),
            "{next}"
        );
    }
    let covered = DecisionDocument { plan_id: plan_id.clone(), ..allowing(State::Accepted, "open", None) };
    assert!(after(&covered).contains("begin_action"), "what the plan covers is begun");
    let rejected = DecisionDocument { plan_id, ..decision(State::Rejected) };
    assert!(after(&rejected).contains("do not do it"));
}

#[test]
fn an_asking_agent_gets_the_place_of_the_answer_and_never_a_request_to_guess() {
    let asked = |state, response| DecisionDocument { kind: DecisionKind::Clarification, response, ..decision(state) };
    assert!(after(&asked(State::Answered, Some(json!("blue")))).contains("response"));
    assert!(after(&asked(State::Expired, Some(json!("red")))).contains("default"));
    for state in [State::Pending, State::Expired, State::Cancelled] {
        let next = after(&asked(state, None));
        assert!(next.contains("do not guess") && !next.contains("begin_action"), "{next}");
    }
}
