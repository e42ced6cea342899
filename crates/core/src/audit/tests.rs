use super::{AuditFilter, AuditOutcome, AuditedEntry, AuditedPerson};
use countersign_protocol::time::UnixMillis;
use serde_json::{Map, Value, json};

fn members(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

#[test]
fn a_refusal_an_unknown_and_a_reconciled_outcome_are_told_apart_from_answers_of_the_upstream() {
    for (entry, word) in [
        (json!({ "event_type": "call", "outcome": "200 OK" }), "done"),
        (json!({ "event_type": "call", "outcome": "404 Not Found" }), "done"),
        (json!({ "event_type": "call", "outcome": "403 scope_not_granted" }), "refused"),
        (json!({ "event_type": "call", "outcome": "not sent: the upstream could not be reached" }), "refused"),
        (json!({ "event_type": "call", "outcome": "201 Created", "effect": "committed" }), "committed"),
        (json!({ "event_type": "call", "outcome": "unknown: the connection broke", "effect": "unknown" }), "unknown"),
        (json!({ "event_type": "call", "outcome": "400 Bad Request", "effect": "none" }), "failed"),
        (json!({ "event_type": "call", "outcome": "409 conflict", "effect": "none" }), "refused"),
        (json!({ "event_type": "decision_settled", "state": "rejected" }), "rejected"),
        (json!({ "event_type": "decision_settled", "state": "expired" }), "expired"),
        (json!({ "event_type": "execution_settled", "outcome": "committed", "reported_by": "claimant" }), "committed"),
        (json!({ "event_type": "execution_settled", "outcome": "failed", "reported_by": "person" }), "reconciled"),
        (json!({ "event_type": "call_settled", "outcome": "committed", "by": "service" }), "reconciled"),
        (json!({ "event_type": "session_started" }), "recorded"),
    ] {
        assert_eq!(AuditOutcome::of(&members(entry.clone())).as_str(), word, "{entry}");
    }
    for outcome in AuditOutcome::ALL {
        assert_eq!(AuditOutcome::parse(outcome.as_str()), Some(*outcome));
    }
}

#[test]
fn an_entry_is_about_a_person_whom_it_names_or_for_whom_its_agent_acts() {
    let alice = AuditedPerson { subject: "alice".into(), delegations: vec![7], principals: vec!["key_1".into()] };
    let filter = AuditFilter { person: Some(alice), ..AuditFilter::default() };
    for (entry, delegation, fits) in [
        (json!({ "decided_by": "alice" }), None, true),
        (json!({ "decided_by": "alicia" }), None, false),
        (json!({ "data_subjects": ["bob", "alice"] }), None, true),
        (json!({ "event_type": "decision_raised" }), Some(7), true),
        (json!({ "event_type": "decision_raised" }), Some(8), false),
        (json!({ "principal": "key_1" }), None, true),
        (json!({ "principal": "key_2" }), None, false),
        (json!({ "reason": "alice" }), None, false),
    ] {
        let members = members(entry);
        let entry = AuditedEntry { at: UnixMillis(5), delegation, session: None, members: &members };
        assert_eq!(filter.fits(&entry), fits, "{members:?}");
    }
}

#[test]
fn the_span_of_a_filter_has_its_beginning_and_not_its_end() {
    let filter = AuditFilter { from: Some(UnixMillis(5)), to: Some(UnixMillis(7)), ..AuditFilter::default() };
    let members = Map::new();
    let fitting = (3..9).filter(|at| {
        filter.fits(&AuditedEntry { at: UnixMillis(*at), delegation: None, session: None, members: &members })
    });
    assert_eq!(fitting.collect::<Vec<_>>(), [5, 6]);
}
