//! Valid signatures of algorithms that the protocol does not permit.

use super::judge::Judge;
use crate::register::support::{Ready, SQLITE, told, with};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_testkit::operator_host::JWKS;
use serde_json::{Value, json};

async fn publish(ready: &Ready, keys: &[&Value]) {
    ready.plane.acme().host.set_document(JWKS, json!({ "keys": keys }).to_string());
    ready.plane.advance_secs(3601).await;
}

/// AAP-20.4-01
#[tokio::test]
async fn an_algorithm_that_is_not_listed_is_refused_with_a_sound_signature_too() {
    let ready = Ready::on(SQLITE).await;
    for mut judge in Judge::all() {
        for alg in ["EdDSA", "ES512", "PS384", "PS512"] {
            let (public, private) = judge.keys(alg, "key-1");
            publish(&ready, &[&public]).await;
            let jwt = judge.sign(&private, &json!({ "alg": alg, "kid": "key-1" }), &ready.operator_claims());
            let body = with(ready.body(), "operator_jwt", json!(jwt));
            assert_eq!(ready.refusal(&body).await, told(401, "operator_jwt_invalid"), "{} {alg}", judge.name);
        }
    }
}

/// AAP-20.4-02
#[tokio::test]
async fn a_public_key_is_no_shared_secret_and_a_shared_secret_is_no_key() {
    let ready = Ready::on(SQLITE).await;
    for mut judge in Judge::all() {
        let (public, _) = judge.keys("RS256", "key-1");
        let modulus = public["n"].as_str().unwrap().to_owned();
        let as_text = URL_SAFE_NO_PAD.encode(public.to_string());
        for secret in [modulus, as_text, URL_SAFE_NO_PAD.encode([7; 32])] {
            let oct = json!({ "kty": "oct", "kid": "key-1", "k": secret });
            let jwt = judge.sign(&oct, &json!({ "alg": "HS256", "kid": "key-1" }), &ready.operator_claims());
            let body = with(ready.body(), "operator_jwt", json!(jwt));
            for keys in [vec![&public], vec![&oct], vec![&public, &oct]] {
                publish(&ready, &keys).await;
                assert_eq!(ready.refusal(&body).await, told(401, "operator_jwt_invalid"), "{}", judge.name);
            }
            // The same bytes under the name of a permitted algorithm.
            let parts: Vec<&str> = jwt.split('.').collect();
            let header = URL_SAFE_NO_PAD.encode(json!({ "alg": "RS256", "kid": "key-1" }).to_string());
            let renamed = json!(format!("{header}.{}.{}", parts[1], parts[2]));
            publish(&ready, &[&public]).await;
            let refusal = ready.refusal(&with(ready.body(), "operator_jwt", renamed)).await;
            assert_eq!(refusal, told(401, "operator_jwt_invalid"), "{}", judge.name);
        }
    }
}
