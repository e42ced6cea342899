//! Checks the error envelope on every response of every test.

use crate::Answer;
use countersign_protocol::aap::error::{Code, ErrorEnvelope};
use http::header;
use serde_json::Value;
use std::{
    collections::HashSet,
    sync::{LazyLock, Mutex},
};

/// Countersign's own response: every failure is an envelope, or a page for people (AAP 16.1).
pub(crate) fn check_own(answer: &Answer) {
    let kind = answer.header(header::CONTENT_TYPE.as_str()).unwrap_or_default();
    check_revoke_reason(answer);
    let challenged = answer.header(header::WWW_AUTHENTICATE.as_str()).is_some();
    assert_eq!(challenged, answer.status == 401, "a challenge is for every 401 and nothing else: {}", answer.text());
    if kind == "application/scim+json" && answer.status >= 400 {
        return check_scim(answer);
    }
    // RFC 8935 has one as well.
    let of_security_event = answer.status == 400 && answer.body.starts_with(b"{\"err\":\"");
    if answer.status >= 400 && !kind.starts_with("text/html") && !of_security_event {
        check(answer, serde_json::from_slice(&answer.body).unwrap_or_default());
    }
}

/// The header's vocabulary is closed, and only a 401 has it (AAP 8.5).
fn check_revoke_reason(answer: &Answer) {
    let Some(reason) = answer.header("x-agent-revoke-reason") else { return };
    let known = ["policy_expired", "inactivity", "task_complete", "event_triggered", "manual_revoke", "key_rotation"];
    assert!(known.contains(&reason) && answer.status == 401, "{} with {reason}: {}", answer.status, answer.text());
}

/// SCIM has an error document of its own (RFC 7644 3.12).
fn check_scim(answer: &Answer) {
    let body = answer.json();
    assert_eq!(body["schemas"], serde_json::json!(["urn:ietf:params:scim:api:messages:2.0:Error"]), "{body}");
    assert_eq!(body["status"], answer.status.to_string(), "{body}");
    assert!(body["detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{body}");
}

/// A response that may be the upstream's: if it looks like an envelope, it must be a valid one.
pub(crate) fn check_forwarded(answer: &Answer) {
    check_revoke_reason(answer);
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    if answer.status >= 400 && body.get("error").is_some() {
        check(answer, body);
    }
}

/// One code, its one status, a hint on every 4xx, and a unique request id.
fn check(answer: &Answer, body: Value) {
    let envelope: ErrorEnvelope = serde_json::from_value(body)
        .unwrap_or_else(|why| panic!("{} without an envelope ({why}): {}", answer.status, answer.text()));
    let told = format!("{envelope:?}");
    let challenged = answer.header(header::WWW_AUTHENTICATE.as_str()).is_some();
    assert!(challenged || answer.status != 401, "a 401 without a challenge: {told}");
    let status = if answer.status == 428 { only_for_confirmations(&envelope) } else { answer.status };
    assert_eq!(envelope.error.status(), status, "another status than its code has: {told}");
    assert!(!envelope.error_description.is_empty(), "nothing described: {told}");
    let hinted = envelope.hint.as_ref().is_some_and(|hint| !hint.is_empty());
    assert!(hinted || answer.status >= 500, "no hint: {told}");
    assert_eq!(answer.header("x-request-id"), Some(envelope.request_id.as_str()), "another name in the header: {told}");
    assert!(is_new(envelope.request_id), "a name that another request had: {told}");
}

/// The one status that a project may configure instead of the code's own (C-01).
fn only_for_confirmations(envelope: &ErrorEnvelope) -> u16 {
    assert_eq!(envelope.error, Code::IrreversibleRequiresConfirm, "428 for something else: {envelope:?}");
    Code::IrreversibleRequiresConfirm.status()
}

fn is_new(request_id: String) -> bool {
    static SEEN: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);
    SEEN.lock().unwrap().insert(request_id)
}
