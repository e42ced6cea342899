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

/// AAP-20.1-02
#[tokio::test]
async fn the_header_names_the_key_and_the_payload_must_not_contradict_it() {
    let ready = Ready::on(SQLITE).await;
    let acme = ready.plane.acme();
    let sign = |kid: Option<&str>, claims: &Value| {
        let header = with(json!({ "alg": "ES256", "typ": "JWT" }), "kid", kid.map_or(Value::Null, |kid| json!(kid)));
        with(ready.body(), "operator_jwt", json!(acme.key.sign_with_header(&header, claims).unwrap()))
    };
    let saying = |kid: Value| with(ready.operator_claims(), "kid", kid);
    assert_eq!(ready.refusal(&sign(None, &saying(json!("key-1")))).await, told(401, "operator_jwt_invalid"));
    for other in [json!("key-2"), json!("KEY-1"), json!(""), json!(1)] {
        let refusal = ready.refusal(&sign(Some("key-1"), &saying(other.clone()))).await;
        assert_eq!(refusal, told(401, "operator_jwt_invalid"), "{other}");
    }
    let unknown = sign(Some("key-9"), &saying(json!("key-1")));
    assert_eq!(ready.refusal(&unknown).await, told(401, "operator_not_found"));
    ready.register(&sign(Some("key-1"), &saying(json!("key-1")))).await.expect(200);
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

/// AAP-20.1-01, AAP-20.4-02, AAP-23-02
#[tokio::test]
async fn keys_that_nobody_should_use_are_not_used() {
    let ready = Ready::on(SQLITE).await;
    let public = json!(ready.plane.acme().key.public_jwk());
    let change = |member: &str, value: Value| with(public.clone(), member, value);
    let other = json!(SigningKey::generate(Some("key-1")).unwrap().public_jwk());
    let secret = json!({ "kty": "oct", "kid": "key-1", "k": "c2VjcmV0", "alg": "HS256" });
    let mut sets = vec![
        json!([]),
        json!([change("kid", Value::Null)]),
        json!([change("kid", json!(""))]),
        json!([change("kid", json!("KEY-1"))]),
        json!([public, other]),
        json!([public, public]),
        json!([secret]),
        json!([secret, public]),
        json!([change("use", json!("enc"))]),
        json!([change("key_ops", json!(["sign"]))]),
        json!([change("alg", json!("HS256"))]),
        json!([change("alg", json!("ES384"))]),
        json!([change("kty", json!("oct"))]),
        json!([change("crv", json!("P-384"))]),
        json!([change("crv", json!("secp256k1"))]),
        json!([change("x", public["y"].clone())]),
        json!([change("y", Value::Null)]),
        json!(public),
        json!("keys"),
    ];
    for member in ["d", "p", "q", "dp", "dq", "qi", "k"] {
        sets.push(json!([change(member, json!("AQAB"))]));
    }
    for keys in sets {
        publish(&ready, keys.clone()).await;
        assert_eq!(ready.refusal(&ready.body()).await, told(401, "operator_not_found"), "{keys}");
    }
    // A bad key does not affect a good one beside it.
    let bad = with(other, "kid", json!("key-2"));
    publish(&ready, json!([with(bad, "d", json!("AQAB")), { "kty": "oct", "k": "AAAA" }, 7, public])).await;
    ready.register(&ready.body()).await.expect(200);
}

/// AAP-20.4-02
#[tokio::test]
async fn a_key_set_is_one_document_of_bounded_size() {
    let ready = Ready::on(SQLITE).await;
    let public = json!(ready.plane.acme().key.public_jwk());
    let crowd: Vec<Value> = (0..64).map(|n| with(public.clone(), "kid", json!(format!("k{n}")))).collect();
    let twice = format!("{{\"keys\":[],\"keys\":[{public}]}}");
    let broken = [
        "".to_owned(),
        "null".to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        "{\"keys\":".to_owned(),
        twice,
        json!({ "keys": crowd.iter().chain([&public]).collect::<Vec<_>>() }).to_string(),
    ];
    for document in broken {
        ready.plane.acme().host.set_document(JWKS, document.clone());
        ready.plane.advance_secs(3601).await;
        assert_eq!(ready.refusal(&ready.body()).await, told(401, "operator_not_found"), "{document:.80}");
    }
    publish(&ready, json!(crowd[1..].iter().chain([&public]).collect::<Vec<_>>())).await;
    ready.register(&ready.body()).await.expect(200);
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
