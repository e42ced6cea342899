//! Malformed bodies.

use super::assert_envelope;
use axum::body::Body;
use countersign_engine::Role;
use countersign_testkit::{Answer, Backend, Kit, Plane, agent_request};
use http::{Method, header};
use serde_json::json;

async fn send(plane: &Plane, path: &str, body: impl Into<Body>) -> Answer {
    plane.send(agent_request(Method::POST, path).body(body.into()).unwrap()).await
}

/// AAP-16-01
#[tokio::test]
async fn invalid_or_ambiguous_json_is_refused() {
    let plane = Kit(Backend::Sqlite).plane().await;
    let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
    for body in [
        "",
        "{",
        "nonsense",
        "{\"mode\": \"user_delegated\",}",
        "{} {}",
        "{\"mode\": \"user_delegated\", \"mode\": \"service_account\"}",
        "{\"extra\": {\"a\": 1, \"a\": 2}}",
        "{\"extra\": 9007199254740993}",
        "{\"extra\": \"\\ud800\"}",
        "[]",
        "null",
        "\"text\"",
        "7",
        &format!("{{\"extra\": {deep}}}"),
    ] {
        for path in ["/agent/register", "/agent/delegate/requests", "/agent/delegate/token", "/session"] {
            let answer = send(&plane, path, body.to_owned()).await;
            assert_envelope(&answer, 400, "invalid_request");
        }
    }
    assert_envelope(&send(&plane, "/agent/register", vec![b'{', 0xff, b'}']).await, 400, "invalid_request");
}

/// AAP-16-01, AAP-16.1-02
#[tokio::test]
async fn a_member_of_the_wrong_type_is_refused_and_its_value_is_not_repeated() {
    let plane = Kit(Backend::Sqlite).plane().await;
    const SECRET: &str = "eyJhbGciOiJFUzI1NiJ9.c2VjcmV0.c2VjcmV0";
    for (path, body) in [
        ("/agent/register", json!({ "mode": "user_delegated", "operator_jwt": [SECRET] })),
        ("/agent/register", json!({ "mode": { "a": SECRET }, "operator_jwt": SECRET })),
        ("/agent/register", json!([SECRET])),
        ("/agent/register", json!(SECRET)),
        ("/agent/delegate/requests", json!({ "scopes": SECRET })),
        ("/agent/delegate/requests", json!({ "max_agent_ttl": SECRET })),
        ("/agent/delegate", json!({ "acknowledged_disclosure": SECRET })),
        ("/agent/delegate", json!({ "acknowledged_disclosure": format!("{SECRET}, expected a yes") })),
        ("/agent/delegate/token", json!({ "code": [SECRET] })),
        ("/agent/revoke", json!({ "delegation_id": [SECRET] })),
        ("/agent/cancel", json!({ "session_id": { "a": SECRET } })),
        ("/agent/heartbeat", json!({ "session_id": "sess_1", "status": [SECRET] })),
        ("/agent/heartbeat", json!({ "session_id": "sess_1", "progress": SECRET })),
        ("/session", json!({ "name": "alice", "password": [SECRET] })),
        ("/session", json!({ "name": "alice", "password": 8_675_309 })),
    ] {
        let answer = send(&plane, path, body.to_string()).await;
        assert_envelope(&answer, 400, "invalid_request");
        assert!(!answer.text().contains(SECRET) && !answer.text().contains("8675309"), "{}", answer.text());
    }
}

/// AAP-16-01: the author of a handwritten document is told its fault.
#[tokio::test]
async fn an_unknown_member_of_a_projects_document_is_named() {
    let plane = Kit(Backend::Sqlite).plane().await;
    let admin = plane.person_in("calendar", "root", &[Role::Admin]).await;
    let mut document = json!(countersign_testkit::calendar("calendar"));
    document["minimum_teir"] = json!(1);
    let answer = admin.send(&plane, Method::PUT, "/v1/project", &document).await;
    assert_envelope(&answer, 400, "invalid_request");
    assert!(answer.text().contains("minimum_teir"), "{}", answer.text());
}

/// AAP-16-01
#[tokio::test]
async fn a_query_that_cannot_be_read_is_refused() {
    let plane = Kit(Backend::Sqlite).plane().await;
    let alice = plane.person("alice").await;
    for path in [
        "/.well-known/agent-auth.json?projectId=calendar&projectId=calendar",
        "/agent/audit?delegation_id=del_a&delegation_id=del_b",
        "/agent/audit?limit=0",
        "/agent/audit?limit=-1&delegation_id=del_a",
        "/agent/audit?from=yesterday&delegation_id=del_a",
        "/agent/audit",
    ] {
        let request = alice.request(Method::GET, path).header(header::ACCEPT, "application/json");
        assert_envelope(&plane.send(request.body(Body::empty()).unwrap()).await, 400, "invalid_request");
    }
}
