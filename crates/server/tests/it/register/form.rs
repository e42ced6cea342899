//! The required form of a registration, checked before its content.

use super::support::{Ready, SQLITE, told, with};
use axum::body::Body;
use countersign_testkit::agent_request;
use http::{Method, Request, header};
use serde_json::{Value, json};

/// AAP-11.1-02
#[tokio::test]
async fn there_is_no_default_mode() {
    let ready = Ready::on(SQLITE).await;
    let absent = with(ready.body(), "mode", Value::Null);
    let mut null = ready.body();
    null["mode"] = Value::Null;
    for body in [absent, null, with(ready.body(), "mode", json!(""))] {
        assert_eq!(ready.refusal(&body).await, told(400, "mode_missing"), "{body}");
    }
    for mode in ["agent", "User_Delegated", "user_delegated ", "service_account", "user"] {
        let body = with(ready.body(), "mode", json!(mode));
        assert_eq!(ready.refusal(&body).await, told(400, "mode_not_supported"), "{mode}");
    }
    for mode in [json!(1), json!(["user_delegated"]), json!(true)] {
        let body = with(ready.body(), "mode", mode);
        assert_eq!(ready.refusal(&body).await, told(400, "invalid_request"), "{body}");
    }
}

/// AAP-17.1-04, AAP-5.2-05
#[tokio::test]
async fn the_operator_jwt_is_required_and_a_string() {
    let ready = Ready::on(SQLITE).await;
    let mut null = ready.body();
    null["operator_jwt"] = Value::Null;
    let absent = with(ready.body(), "operator_jwt", Value::Null);
    let mut bodies = vec![absent, null];
    let odd = [json!(""), json!(7), json!(true), json!({}), json!([ready.body()["operator_jwt"]])];
    bodies.extend(odd.map(|value| with(ready.body(), "operator_jwt", value)));
    for body in bodies {
        assert_eq!(ready.refusal(&body).await, told(400, "invalid_request"), "{body}");
    }
    ready.register(&ready.body()).await.expect(200);
}

/// AAP-11.1-03
#[tokio::test]
async fn echoes_are_optional_and_must_not_contradict_the_token() {
    let ready = Ready::on(SQLITE).await;
    let bob = ready.plane.person("bob").await;
    let other = ready.plane.connect(&bob, ready.plane.acme(), &["calendar.read"]).await;
    for (echo, value) in [("acting_for", "bob"), ("delegation_id", other.delegation_id.as_str())] {
        let body = with(ready.body(), echo, json!(value));
        assert_eq!(ready.refusal(&body).await, told(401, "delegation_mismatch"), "{echo}");
    }

    ready.register(&ready.body()).await.expect(200);
    let both = with(ready.body(), "acting_for", json!("alice"));
    let both = with(both, "delegation_id", json!(ready.connected.delegation_id));
    ready.register(&both).await.expect(200);
    let receipt = with(both, "consent_receipt", json!(ready.plane.acme().sign_receipt(&ready.receipt())));
    ready.register(&receipt).await.expect(200);
}

/// AAP-22.4-02
#[tokio::test]
async fn members_that_nobody_knows_are_ignored() {
    let ready = Ready::on(SQLITE).await;
    let body =
        with(ready.body_with(&with(ready.receipt(), "mood", json!("sunny"))), "later", json!({ "version": 2.1 }));
    ready.register(&body).await.expect(200);
}

/// AAP-22.1-01
#[tokio::test]
async fn a_request_with_credentials_needs_a_version_and_others_do_not() {
    let ready = Ready::on(SQLITE).await;
    let plane = &ready.plane;
    let register = |version: Option<&str>| {
        let request = Request::post("/agent/register").header(header::CONTENT_TYPE, "application/json");
        let request = version.into_iter().fold(request, |request, v| request.header("aap-version", v));
        request.body(Body::from(ready.body().to_string())).unwrap()
    };
    for version in [None, Some(""), Some("9.9"), Some("2"), Some("2.0, 2.1")] {
        let refused = plane.send(register(version)).await;
        assert_eq!(refused.refusal(), told(400, "spec_version_unsupported"), "{version:?}");
        assert_eq!(refused.header("aap-version-accepted"), Some("2.0"));
    }
    let agent = plane.register(plane.acme(), &ready.connected).await;
    let mut call = agent.request(Method::GET, "/calendar/events", "READ_CALENDAR").body(Body::empty()).unwrap();
    call.headers_mut().remove("aap-version");
    let refused = countersign_testkit::send_to(&plane.api(), call).await;
    assert_eq!(refused.refusal(), told(400, "spec_version_unsupported"));
    assert!(plane.upstream.reached().is_empty());

    plane.send(register(Some("2.0"))).await.expect(200);
    for path in ["agent-auth", "agent-identity", "agent-jwks"] {
        plane.get(&format!("/.well-known/{path}.json")).await.expect(200);
    }
    let nobody = Request::get("/calendar/events").body(Body::empty()).unwrap();
    let challenge = countersign_testkit::send_to(&plane.api(), nobody).await;
    assert_eq!(challenge.refusal(), told(401, "agent_auth_required"));
}

#[tokio::test]
async fn registering_is_a_post() {
    let ready = Ready::on(SQLITE).await;
    for method in [Method::GET, Method::PUT, Method::DELETE] {
        let request = agent_request(method, "/agent/register").body(Body::from(ready.body().to_string())).unwrap();
        assert_eq!(ready.plane.send(request).await.refusal(), told(405, "method_not_allowed"));
    }
}
