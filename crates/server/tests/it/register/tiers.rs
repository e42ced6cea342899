//! The proofs that each tier needs (AAP 2, C-24).

use super::support::{Ready, SQLITE, claims_of, told, with};
use axum::body::Body;
use countersign_testkit::{Registered, Setup, agent_request, on_sqlite, send_to};
use http::{Method, header};
use serde_json::{Value, json};

on_sqlite! {
    /// AAP-2-02, AAP-17.1-05
    async fn an_operator_without_a_user_reads_low_stakes_routes_and_nothing_else(kit) {
        let ready = Ready::with(kit, Setup::with_project(|p| p.minimum_tier = 1)).await;
        let plane = &ready.plane;
        let alone = with(ready.body(), "delegation_token", Value::Null);
        let agent = plane.register_with(&alone, None).await;
        assert_eq!(agent.answer["effective_policy"], json!({}));

        let refused = [
            (Method::PUT, "/clock", "READ_CLOCK"),
            (Method::GET, "/calendar/events", "READ_CALENDAR"),
            (Method::POST, "/calendar/events", "SCHEDULE_EVENT"),
        ];
        for (method, path, intent) in refused {
            let answer = plane.call(&agent, method.clone(), path, intent).await;
            assert_eq!(answer.refusal(), told(403, "tier_not_met"), "{method} {path}");
        }
        assert!(plane.upstream.reached().is_empty());

        plane.call(&agent, Method::GET, "/clock", "READ_CLOCK").await.expect(200);
        let caller = plane.upstream.reached()[0].caller.clone().unwrap();
        assert_eq!((caller.operator.as_str(), caller.acting_for), ("acme.test", None));
        // A presented delegation is still verified.
        let forged = with(ready.body(), "delegation_token", json!("a.b.c"));
        assert_eq!(ready.refusal(&forged).await, told(401, "delegation_invalid"));
    }

    /// AAP-2-02, AAP-2-03, AAP-17.1-05
    async fn where_users_are_at_stake_an_operator_needs_a_delegation(kit) {
        let ready = Ready::on(kit).await;
        let mut null = ready.body();
        null["delegation_token"] = Value::Null;
        for body in [with(ready.body(), "delegation_token", Value::Null), null] {
            let answer = ready.register(&body).await;
            assert_eq!(answer.refusal(), told(403, "tier_not_met"));
            assert!(answer.json()["hint"].as_str().unwrap().contains("/agent/delegate/requests"), "{}", answer.text());
        }
        ready.register(&ready.body()).await.expect(200);
    }
}

/// AAP-2-01
#[tokio::test]
async fn without_a_verified_operator_nothing_is_reached_and_no_token_is_given() {
    let ready = Ready::on(SQLITE).await;
    let plane = &ready.plane;
    let nobody = with(ready.operator_claims(), "iss", json!("nobody.test"));
    for jwt in [plane.acme().sign_operator(&nobody), "a.b.c".into(), ready.connected.delegation_token.clone()] {
        let answer = ready.register(&with(ready.body(), "operator_jwt", json!(jwt))).await;
        assert_eq!(answer.status, 401, "{}", answer.text());
        assert!(answer.json().get("access_token").is_none());
    }
    let request = agent_request(Method::GET, "/calendar/events").body(Body::empty()).unwrap();
    let answer = send_to(&plane.api(), request).await;
    assert_eq!(answer.refusal(), told(401, "agent_auth_required"));
    assert_eq!(answer.header("www-authenticate"), Some("Bearer agent_auth_required=\"/.well-known/agent-auth.json\""));
    assert!(plane.upstream.reached().is_empty());
    let page = plane.audit(plane.acme(), &format!("delegation_id={}", ready.connected.delegation_id)).await.json();
    let went_well = |entry: &Value| entry["outcome"].as_str().is_some_and(|outcome| outcome.starts_with('2'));
    assert!(!page["entries"].as_array().unwrap().iter().any(went_well), "{page:#}");
}

/// AAP-5.2-05
#[tokio::test]
async fn a_delegation_token_alone_opens_nothing() {
    let ready = Ready::on(SQLITE).await;
    let token = &ready.connected.delegation_token;
    let agent = Registered {
        access_token: token.clone(),
        session_id: "sess_0123456789abcdef0123456789abcdef".into(),
        delegation_id: Some(ready.connected.delegation_id.clone()),
        answer: Value::Null,
    };
    let answer = ready.plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await;
    assert_eq!(answer.refusal(), told(401, "access_token_invalid"));
    let bare = agent_request(Method::GET, "/calendar/events").header(header::AUTHORIZATION, format!("Bearer {token}"));
    let answer = send_to(&ready.plane.api(), bare.body(Body::empty()).unwrap()).await;
    assert_eq!(answer.refusal(), told(401, "access_token_invalid"));
    let body = with(ready.body(), "operator_jwt", Value::Null);
    assert_eq!(ready.refusal(&body).await, told(400, "invalid_request"));
    // Nor does its id, which is no secret.
    let id = claims_of(token)["delegation_id"].as_str().unwrap().to_owned();
    let agent = Registered { access_token: id, ..agent };
    let answer = ready.plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await;
    assert_eq!(answer.refusal(), told(401, "access_token_invalid"));
    assert!(ready.plane.upstream.reached().is_empty());
}
