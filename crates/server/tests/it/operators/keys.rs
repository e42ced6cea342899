//! Requirements for an operator's keys (AAP 20.1, 20.4, 23).

use crate::register::support::{Ready, SQLITE, header_of, told, with};
use countersign_jose::SigningKey;
use countersign_testkit::operator_host::JWKS;
use serde_json::{Value, json};

/// Publishes a key set of the test's own and lets the cached one expire.
async fn publish(ready: &Ready, keys: Value) {
    ready.plane.acme().host.set_document(JWKS, json!({ "keys": keys }).to_string());
    ready.plane.advance_secs(3601).await;
}

/// AAP-20.1-03
#[tokio::test]
async fn the_key_of_that_name_is_tried_and_no_other() {
    let ready = Ready::on(SQLITE).await;
    let acme = ready.plane.acme();
    let second = SigningKey::generate(Some("key-2")).unwrap();
    publish(&ready, json!([acme.key.public_jwk(), second.public_jwk()])).await;
    let header = json!({ "alg": "ES256", "kid": "key-1", "typ": "JWT" });
    let mislabelled = second.sign_with_header(&header, &ready.operator_claims()).unwrap();
    let body = with(ready.body(), "operator_jwt", json!(mislabelled));
    assert_eq!(ready.refusal(&body).await, told(401, "operator_jwt_invalid"));
    let receipt = second.sign_with_header(&header, &ready.receipt()).unwrap();
    let body = with(ready.body(), "consent_receipt", json!(receipt));
    assert_eq!(ready.refusal(&body).await, told(401, "consent_invalid"));
    let labelled = second.sign("JWT", &ready.operator_claims()).unwrap();
    ready.register(&with(ready.body(), "operator_jwt", json!(labelled))).await.expect(200);
}

/// AAP-20.4-03
#[tokio::test]
async fn signatures_of_the_service_say_es256_under_the_newest_key() {
    let ready = Ready::on(SQLITE).await;
    let before = header_of(&ready.connected.delegation_token);
    ready.plane.engine.rotate_keys().await.unwrap();
    let bob = ready.plane.person("bob").await;
    let after = ready.plane.connect(&bob, ready.plane.acme(), &["calendar.read"]).await;
    let after = header_of(&after.delegation_token);
    assert_eq!((&before["alg"], &after["alg"]), (&json!("ES256"), &json!("ES256")));
    assert_ne!(before["kid"], after["kid"]);
    // The older key's signatures are still valid.
    ready.register(&ready.body()).await.expect(200);
}
