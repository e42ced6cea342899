//! An identity manifest that violates the schema is none (AAP 19.2), and a name is never an identity.

use crate::register::support::{Ready, SCOPES, SQLITE, told, with};
use countersign_testkit::{Setup, on_sqlite, operator_host::IDENTITY};
use http::Method;
use serde_json::{Value, json};

/// Registers once after the manifest was changed and the cached one has expired.
async fn refusal_after(ready: &Ready, identity: &Value) -> (u16, String) {
    ready.plane.acme().publish_identity(identity);
    ready.plane.advance_secs(3601).await;
    ready.refusal(&ready.body()).await
}

/// AAP-4.1-04
#[tokio::test]
async fn a_manifest_speaks_for_the_domain_that_it_stands_on_and_no_other() {
    let ready = Ready::on(SQLITE).await;
    for domain in ["other.test", "sub.acme.test", "evil-acme.test"] {
        let identity = with(ready.plane.acme().identity(), "domain", json!(domain));
        assert_eq!(refusal_after(&ready, &identity).await, told(401, "operator_jwt_invalid"), "{domain}");
    }
}

/// AAP-4.1-04
#[tokio::test]
async fn an_issuer_has_exactly_one_spelling() {
    let setup = Setup { operators: vec!["acme.test", "xn--bcher-kva.test"], ..Setup::default() };
    let ready = Ready::with(SQLITE, setup).await;
    let asked = ready.plane.asked.urls().len();
    let spellings = [
        "ACME.test",
        "acme.test:443",
        "acme.test.",
        "https://acme.test",
        "acme.test/",
        " acme.test",
        "bücher.test",
        "xn--BCHER-kva.test",
        "192.0.2.1",
        "[::1]",
        "localhost",
        "",
    ];
    for iss in spellings {
        let body = ready.body_by(&with(ready.operator_claims(), "iss", json!(iss)));
        assert_eq!(ready.refusal(&body).await, told(401, "operator_jwt_invalid"), "{iss:?}");
    }
    assert_eq!(ready.plane.asked.urls().len(), asked, "somebody was asked about a name that is none");
    let bucher = ready.plane.operator("xn--bcher-kva.test");
    let connected = ready.plane.connect(&ready.alice, bucher, SCOPES).await;
    ready.plane.register(bucher, &connected).await;
}

/// AAP-4.1-04, AAP-5.2-02
#[tokio::test]
async fn an_operator_cannot_speak_under_the_name_of_another() {
    let setup = Setup { operators: vec!["acme.test", "evil.test"], ..Setup::default() };
    let ready = Ready::with(SQLITE, setup).await;
    let evil = ready.plane.operator("evil.test");
    // Its own key, under a kid that acme publishes too, in acme's name.
    let forged = evil.sign_operator(&ready.operator_claims());
    let body = with(ready.body(), "operator_jwt", json!(forged));
    assert_eq!(ready.refusal(&body).await, told(401, "operator_jwt_invalid"));
    // And in its own name, with acme's delegation.
    let body = ready.plane.register_body(evil, &ready.connected);
    assert_eq!(ready.refusal(&body).await, told(401, "delegation_mismatch"));
}

on_sqlite! {
    /// AAP-13.2-03
    async fn a_name_is_decoration_and_the_domain_is_the_identity(kit) {
        let setup = Setup { operators: vec!["acme.test", "evil.example"], ..Setup::default() };
        let plane = kit.plane_with(setup).await;
        let evil = plane.operator("evil.example");
        let mut identity = evil.identity();
        identity["operator"] = json!("acme.test");
        evil.publish_identity(&identity);
        let alice = plane.person("alice").await;
        let request_id = plane.connect_request("", evil, SCOPES).await;
        let shown = alice.post(&plane, "/agent/delegate", &json!({ "request_id": request_id })).await.expect(200).json();
        assert_eq!(shown["operator"], "evil.example");

        let connected = plane.connect(&alice, evil, SCOPES).await;
        let claims = crate::register::support::claims_of(&connected.delegation_token);
        assert_eq!(claims["delegated_to"], "evil.example");
        let stolen = plane.post("/agent/register", &plane.register_body(plane.acme(), &connected)).await;
        assert_eq!(stolen.refusal(), told(401, "delegation_mismatch"));

        let agent = plane.register(evil, &connected).await;
        plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200);
        assert_eq!(plane.upstream.reached()[0].caller.as_ref().unwrap().operator, "evil.example");
        let query = format!("delegation_id={}", connected.delegation_id);
        let page = plane.audit(evil, &query).await.expect(200).json();
        let entries = page["entries"].as_array().unwrap();
        assert!(entries.len() >= 3 && entries.iter().all(|entry| entry["operator"] == "evil.example"), "{page:#}");
        assert_eq!(plane.audit(plane.acme(), &query).await.refusal(), told(401, "delegation_not_found"));
    }
}

/// AAP-23-08, AAP-20.3-03
#[tokio::test]
async fn each_reason_for_not_finding_an_operator_has_its_own_hint() {
    let ready = Ready::on(SQLITE).await;
    let host = &ready.plane.acme().host;
    let hint = async |body: Value| {
        let answer = ready.register(&body).await;
        assert_eq!(answer.refusal(), told(401, "operator_not_found"));
        answer.json()["hint"].as_str().unwrap().to_owned()
    };
    let header = json!({ "alg": "ES256", "kid": "key-9", "typ": "JWT" });
    let unknown_kid = ready.plane.acme().key.sign_with_header(&header, &ready.operator_claims()).unwrap();
    let mut hints = vec![hint(with(ready.body(), "operator_jwt", json!(unknown_kid))).await];
    host.go_offline();
    ready.plane.advance_secs(3601).await;
    hints.push(hint(ready.body()).await);
    host.recover();
    host.remove(IDENTITY);
    ready.plane.advance_secs(61).await;
    hints.push(hint(ready.body()).await);
    ready.plane.acme().publish(&[]);
    host.set_document(countersign_testkit::operator_host::JWKS, "{}");
    ready.plane.advance_secs(61).await;
    hints.push(hint(ready.body()).await);
    let different: std::collections::HashSet<&String> = hints.iter().collect();
    assert_eq!(different.len(), 4, "{hints:#?}");
}
