//! Error messages for a refused document.

use super::documents::{self, with, without};
use countersign_protocol::mplp::{Confirm, DecisionRequest, Plan};
use serde_json::{Value, json};

fn told(of: &str, place: &str, value: Value) -> String {
    let document = with(documents::document(of), place, value).to_string();
    match of {
        "plan" => Plan::read(document.as_bytes()).unwrap_err().to_string(),
        _ => Confirm::read(document.as_bytes()).unwrap_err().to_string(),
    }
}

#[test]
fn a_refusal_names_the_member_and_its_valid_form() {
    let told = |place, value| told("confirm", place, value);
    assert_eq!(
        told("/meta/protocolVersion", json!("1.0.0")),
        "meta.protocolVersion: is no member of this document; write protocol_version, and schema_version beside it"
    );
    assert_eq!(
        told("/meta/source", json!("x")),
        "meta.source: is no member of this document; the producer is named in created_by"
    );
    assert_eq!(
        told("/confirm_id", json!("confirm-550e8400-e29b-41d4-a716-446655440004")),
        "confirm_id: must be a bare UUID: remove the text before it"
    );
    assert_eq!(
        told("/target_id", json!("550E8400-E29B-41D4-A716-446655440004")),
        "target_id: must be written in lower case"
    );
    assert!(told("/target_id", json!("123e4567-e89b-12d3-a456-426614174000")).contains("version 4"));
    assert!(
        told("/decisions/0/decision_id", json!("decision-001")).starts_with("decisions[0].decision_id: must be a UUID")
    );
    assert_eq!(
        told("/target_type", json!("step")),
        "target_type: must be one of context, plan, trace, extension, other; \
         it is approved as other, with its own id as target_id"
    );
    assert!(told("/status", json!("override")).contains("\"override\": true"));
    assert_eq!(
        told("/governance/lifecycle_phase", json!("x")),
        "governance.lifecycle_phase: is no member of this document; write lifecyclePhase"
    );
    assert!(told("/requested_at", json!("2025-12-07")).contains("such as 2025-12-07T00:00:00Z"));
    assert_eq!(told("/reason", json!(null)), "reason: must not be null: leave it out");
    assert_eq!(told("/events", json!({})), "events: must be a list");
    assert_eq!(told("/meta", json!(["1.0.0", "1.0.0"])), "meta: must be an object");
}

#[test]
fn a_plan_that_waits_is_called_proposed() {
    assert!(
        told("plan", "/status", json!("pending_approval")).ends_with("; a Plan with a pending Confirm is proposed")
    );
    assert!(told("plan", "/actions", json!({})).contains("{\"plan\": …, \"actions\": …}"));
}

#[test]
fn findings_never_repeat_the_offending_text() {
    let pin = told("confirm", "/reason", json!(271_828));
    assert_eq!(pin, "reason: must be a string");
    let secret = "hunter2-hunter2";
    for place in
        ["/meta", "/confirm_id", "/target_type", "/status", "/requested_at", "/decisions", "/trace", "/events/0"]
    {
        let why = told("confirm", place, json!(secret));
        assert!(!why.contains(secret), "{why}");
    }
}

#[test]
fn a_missing_member_is_named_with_its_place() {
    let document = without(documents::document("confirm"), "/decisions/0/decided_at").to_string();
    let why = Confirm::read(document.as_bytes()).unwrap_err();
    assert_eq!(why.to_string(), "decisions[0].decided_at: is required");
}

/// Readers disagree on which of two duplicate members counts.
#[test]
fn a_member_that_stands_twice_is_refused() {
    let why = DecisionRequest::read(br#"{"status":"rejected","status":"approved"}"#).unwrap_err();
    assert!(why.to_string().contains("occurs twice"), "{why}");
    assert!(DecisionRequest::read(b"[\"approved\"]").is_err());
    assert!(DecisionRequest::read(b"{\"status\":\"approved\"} {}").is_err());
}
