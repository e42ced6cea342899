//! The documents that are fetched from an operator's domain, and how often (AAP 4.1, C-69, C-70).

use crate::register::support::{Ready, SQLITE};
use countersign_testkit::{Plane, Setup};
use serde_json::json;

const IDENTITY_URL: &str = "https://acme.test/.well-known/agent-identity.json";
const JWKS_URL: &str = "https://acme.test/.well-known/agent-jwks.json";

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
