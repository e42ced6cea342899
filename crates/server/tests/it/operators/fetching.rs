//! The documents that are fetched from an operator's domain, and how often (AAP 4.1, C-69, C-70).

use crate::register::support::{Ready, SCOPES, SQLITE, told, with};
use countersign_jose::SigningKey;
use countersign_testkit::{Plane, Setup, operator_host::JWKS};
use serde_json::json;
use std::pin::pin;

const IDENTITY_URL: &str = "https://acme.test/.well-known/agent-identity.json";
const JWKS_URL: &str = "https://acme.test/.well-known/agent-jwks.json";

fn signed_by(ready: &Ready, key: &SigningKey) -> serde_json::Value {
    let jwt = key.sign("aap-operator+jwt", &ready.operator_claims()).unwrap();
    with(ready.body(), "operator_jwt", json!(jwt))
}

/// The requests since a moment.
fn asked_since(plane: &Plane, before: usize) -> Vec<String> {
    plane.asked.urls().split_off(before)
}

/// AAP-4-02, AAP-4.1-01, AAP-4.1-02, AAP-4.1-06
#[tokio::test]
async fn manifest_and_keys_are_fetched_from_the_domain_once_an_hour_and_nobody_else_is_asked() {
    let mut setup = Setup::default();
    setup.operators.push("anthropic.test");
    let plane = SQLITE.plane_with(setup).await;
    let acme = plane.acme();
    // A registry that the operator names is not used at this tier.
    let mut identity = acme.identity();
    identity["model_providers"] = json!(["anthropic.test"]);
    identity["provider_registry_urls"] = json!(["https://anthropic.test/.well-known/agent-operators.json"]);
    acme.publish_identity(&identity);
    assert!(plane.asked.urls().is_empty());
    let ready = Ready::at(plane).await;
    ready.register(&ready.body()).await.expect(200);
    assert_eq!(ready.plane.asked.urls(), [IDENTITY_URL, JWKS_URL]);

    ready.plane.advance_secs(3600).await;
    ready.register(&ready.body_with(&ready.receipt())).await.expect(200);
    assert_eq!(ready.plane.asked.urls().len(), 2);
    ready.plane.advance_secs(1).await;
    ready.register(&ready.body()).await.expect(200);
    assert_eq!(asked_since(&ready.plane, 2), [IDENTITY_URL, JWKS_URL]);
    ready.register(&ready.body()).await.expect(200);
    assert_eq!(ready.plane.asked.urls().len(), 4);
    assert!(ready.plane.operator("anthropic.test").host.fetches().is_empty());
    for request in ready.plane.acme().host.received() {
        assert_eq!(request.method, http::Method::GET);
        assert!(request.headers.get("authorization").is_none() && request.headers.get("cookie").is_none());
    }
}

/// AAP-20.1-04
#[tokio::test]
async fn a_key_published_after_caching_is_found_by_exactly_one_more_fetch() {
    let ready = Ready::on(SQLITE).await;
    let acme = ready.plane.acme();
    let before = ready.plane.asked.urls().len();
    let new = SigningKey::generate(Some("key-2")).unwrap();
    acme.publish(&[&acme.key, &new]);
    ready.register(&signed_by(&ready, &new)).await.expect(200);
    ready.register(&signed_by(&ready, &new)).await.expect(200);
    ready.register(&ready.body()).await.expect(200);
    assert_eq!(asked_since(&ready.plane, before), [JWKS_URL]);
}

/// AAP-20.1-04
#[tokio::test]
async fn unknown_kids_make_one_fetch_a_minute_however_many_there_are() {
    let ready = Ready::on(SQLITE).await;
    let before = ready.plane.asked.urls().len();
    let forged = |n: u32| signed_by(&ready, &SigningKey::generate(Some(&format!("forged-{n}"))).unwrap());
    for n in 0..5 {
        assert_eq!(ready.refusal(&forged(n)).await, told(401, "operator_not_found"));
    }
    assert_eq!(asked_since(&ready.plane, before), [JWKS_URL]);
    ready.plane.advance_secs(59).await;
    assert_eq!(ready.refusal(&forged(5)).await, told(401, "operator_not_found"));
    assert_eq!(asked_since(&ready.plane, before).len(), 1);
    ready.plane.advance_secs(1).await;
    assert_eq!(ready.refusal(&forged(6)).await, told(401, "operator_not_found"));
    assert_eq!(asked_since(&ready.plane, before), [JWKS_URL, JWKS_URL]);
    ready.register(&ready.body()).await.expect(200);
}

/// AAP-4.1-02
#[tokio::test]
async fn keys_may_lie_below_the_operators_domain() {
    let setup = Setup { operators: vec!["acme.test", "keys.acme.test"], ..Setup::default() };
    let plane = SQLITE.plane_with(setup).await;
    let acme = plane.acme();
    let mut identity = acme.identity();
    identity["signing_keys"] = json!("https://keys.acme.test/.well-known/agent-jwks.json");
    acme.host.remove(JWKS);
    acme.publish_identity(&identity);
    plane.operator("keys.acme.test").host.publish(&json!({ "keys": [acme.key.public_jwk()] }));
    let alice = plane.person("alice").await;
    let connected = plane.connect(&alice, acme, SCOPES).await;
    plane.register(acme, &connected).await;
    assert_eq!(plane.asked.urls(), [IDENTITY_URL, "https://keys.acme.test/.well-known/agent-jwks.json"]);
}

/// AAP-4.1-08
#[tokio::test]
async fn ten_that_ask_at_once_make_one_fetch() {
    let ready = Ready::on(SQLITE).await;
    ready.plane.advance_secs(3601).await;
    let (before, body) = (ready.plane.asked.urls().len(), ready.body());
    let host = &ready.plane.acme().host;
    let so_far = host.received().len();
    host.stall();
    let mut answers = pin!(futures_util::future::join_all((0..10).map(|_| ready.register(&body))));
    tokio::select! {
        () = host.wait_for_requests(so_far + 1) => host.recover(),
        _ = &mut answers => panic!("answered without asking"),
    }
    let answers = answers.await;
    assert!(answers.iter().all(|answer| answer.status == 200));
    assert_eq!(asked_since(&ready.plane, before), [IDENTITY_URL, JWKS_URL]);
}
