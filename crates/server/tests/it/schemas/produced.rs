//! One document of each kind that the plane produces, by name of its schema.

use super::claims_of;
use countersign_testkit::{Backend, Kit, Plane, Setup};
use http::Method;
use serde_json::{Value, json};

pub(super) type Documents = Vec<(&'static str, Value)>;

/// From a plane with one project: the whole flow and its refusals.
pub(super) async fn of_one_project() -> Documents {
    let plane = Kit(Backend::Sqlite).plane_with(Setup::with_project(|p| p.companion = Some("Read me".into()))).await;
    let alice = plane.person("alice").await;
    let acme = plane.acme();
    let connected = plane.connect(&alice, acme, &["calendar.read", "calendar.write"]).await;
    let receipt = receipt(&plane, &plane.receipt_claims(acme, "alice", &connected, &["calendar.read"]));
    let mut body = plane.register_body(acme, &connected);
    body["consent_receipt"] = json!(acme.sign_receipt(&receipt));
    let agent = plane.register_with(&body, Some(&connected)).await;
    plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200);
    let refused = plane.call(&agent, Method::POST, "/calendar/events", "SCHEDULE_EVENT").await.expect(403).json();
    let preview =
        plane.call(&agent, Method::GET, "/calendar/events?dry_run=true", "READ_CALENDAR").await.expect(200).json();
    let revoke = json!({ "delegation_id": connected.delegation_id, "reason": "user_requested" });
    alice.post(&plane, "/agent/revoke", &revoke).await.expect(200);
    let audit = alice.get(&plane, &format!("/agent/audit?delegation_id={}", connected.delegation_id)).await.expect(200);
    vec![
        ("manifest", plane.get("/.well-known/agent-auth.json").await.expect(200).json()),
        ("manifest", plane.get("/.well-known/agent-auth.json?projectId=calendar").await.expect(200).json()),
        ("operator-identity", plane.get("/.well-known/agent-identity.json").await.expect(200).json()),
        ("operator-identity", acme.identity()),
        ("consent-receipt", receipt),
        ("delegation-token", claims_of(&connected.delegation_token)),
        ("effective-policy", agent.answer["effective_policy"].clone()),
        ("register-response", agent.answer),
        ("error-envelope", refused),
        ("error-envelope", plane.get("/nothing/here").await.expect(404).json()),
        ("audit-page", audit.json()),
        ("dry-run-preview", preview),
    ]
}

/// Manifests of an installation with several projects. The service-level one has templates for endpoints, so it is
/// not among them.
pub(super) async fn of_many_projects() -> Documents {
    let plane = Kit(Backend::Sqlite).plane_with(Setup::multi()).await;
    let by_host = plane.get("https://north.api.example.test/.well-known/agent-auth.json").await.expect(200);
    vec![
        ("manifest", plane.get("/.well-known/agent-auth.json?projectId=south").await.expect(200).json()),
        ("manifest", by_host.json()),
    ]
}

/// A receipt with every member.
fn receipt(plane: &Plane, usual: &Value) -> Value {
    let mut claims = usual.clone();
    claims["usage_limits"] = json!({ "requests_per_hour": 10, "writes_per_session": 1, "max_data_egress_kb": 64 });
    let now = plane.now();
    let window = json!({ "earliest": now.to_rfc3339(), "latest": now.plus_secs(3600).to_rfc3339() });
    claims["execution_window"] = window;
    claims
}
