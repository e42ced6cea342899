use super::{CheckRequest, ConfirmResponse, ResolveRequest, ScaffoldResponse, SessionRequest};
use serde_json::{Value, json};

const SESSION: &str = "6f9619ff-8b86-4d01-b42d-00c04fc964ff";

fn bytes(document: &Value) -> Vec<u8> {
    serde_json::to_vec(document).unwrap()
}

/// WWA-4-02, WWA-4-03
#[test]
fn a_check_without_a_plan_or_of_another_version_or_session_is_refused() {
    let cases = [
        ("plan_object", json!({})),
        ("plan_object", json!({ "plan_object": [] })),
        ("plan_object", json!({ "plan_object": "plan" })),
        ("protocol_version", json!({ "plan_object": {}, "protocol_version": "2.0.0" })),
        ("session_id", json!({ "plan_object": {}, "session_id": SESSION.to_uppercase() })),
        ("session_id", json!({ "plan_object": {}, "session_id": "6f9619ff-8b86-1d01-b42d-00c04fc964ff" })),
        ("plan", json!({ "plan_object": {}, "plan": {} })),
    ];
    for (member, request) in cases {
        assert_eq!(CheckRequest::read(&bytes(&request)).unwrap_err().member, member, "{request}");
        assert_eq!(CheckRequest::of_value(&request).unwrap_err().member, member);
    }
    assert!(CheckRequest::read(&bytes(&json!({ "plan_object": {} }))).is_ok());
    let full = json!({ "plan_object": {}, "session_id": SESSION, "protocol_version": "1.0.0" });
    assert!(CheckRequest::read(&bytes(&full)).is_ok());
}

#[test]
fn an_answer_names_session_and_gap_and_is_a_text() {
    let sound = json!({ "session_id": SESSION, "gap_id": "gap-001", "answer": "one" });
    assert_eq!(ResolveRequest::read(&bytes(&sound)).unwrap().signed(), None);
    for (member, value) in
        [("answer", json!(1)), ("answer", json!(null)), ("gap_id", json!(1)), ("session_id", json!("x"))]
    {
        let mut request = sound.clone();
        request[member] = value;
        assert_eq!(ResolveRequest::read(&bytes(&request)).unwrap_err().member, member);
    }
}

/// WWA-4-06
#[test]
fn an_answer_is_signed_with_all_that_belongs_to_it_or_not_at_all() {
    let signed = json!({
        "session_id": SESSION, "gap_id": "gap-001", "answer": "one",
        "answered_by": { "agent_id": "caller-1", "public_key": format!("ed25519:{}", "ab".repeat(32)) },
        "answer_signature": format!("ed25519:{}", "cd".repeat(64)),
        "answer_timestamp": "2026-05-10T15:01:23Z",
    });
    let own = ResolveRequest::read(&bytes(&signed)).unwrap().signed().unwrap();
    assert!(own.answered_by.attested);
    for missing in ["answered_by", "answer_signature", "answer_timestamp"] {
        let mut request = signed.clone();
        request.as_object_mut().unwrap().remove(missing);
        assert!(ResolveRequest::read(&bytes(&request)).is_err(), "{missing}");
    }
    let mut offset = signed.clone();
    offset["answer_timestamp"] = json!("2026-05-10T15:01:23+00:00");
    assert_eq!(ResolveRequest::read(&bytes(&offset)).unwrap_err().member, "answer_timestamp");
    let mut denied = signed.clone();
    denied["answered_by"]["attested"] = json!(false);
    assert_eq!(ResolveRequest::read(&bytes(&denied)).unwrap_err().member, "answered_by.attested");
}

#[test]
fn a_session_is_named_by_its_id_alone() {
    assert!(SessionRequest::read(&bytes(&json!({ "session_id": SESSION }))).is_ok());
    assert!(SessionRequest::read(&bytes(&json!({ "session_id": SESSION, "force": true }))).is_err());
}

#[test]
fn responses_are_distinguished_by_their_status() {
    let vectors: Value =
        serde_json::from_str(include_str!("../../../../../tests/data/clarification-vectors.json")).unwrap();
    let refusal = json!({
        "status": "needs_clarification", "gaps": vectors["message"]["gaps"], "blocking_count": 1, "warning_count": 0,
        "session_id": SESSION, "clarification": vectors["message"], "asks": [],
    });
    assert!(matches!(serde_json::from_value(refusal.clone()).unwrap(), ConfirmResponse::Refused(_)));
    assert!(matches!(serde_json::from_value(refusal).unwrap(), ScaffoldResponse::Refused(_)));
    let ready = json!({ "status": "ready_to_proceed", "session_id": SESSION, "next": "confirm" });
    assert!(matches!(serde_json::from_value(ready).unwrap(), ScaffoldResponse::Ready(_)));
    let plan = json!({ "status": "plan_accepted", "session_id": SESSION, "plan": {} });
    assert!(matches!(serde_json::from_value(plan).unwrap(), ScaffoldResponse::Accepted(_)));
}
