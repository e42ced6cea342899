//! Our signatures and published keys, verified by other libraries.

use super::judge::Judge;
use crate::register::support::{Ready, SCOPES, SQLITE, claims_of, tampered};
use serde_json::{Value, json};

/// AAP-5.2-01, AAP-20.4-03
#[tokio::test]
async fn delegation_tokens_verify_against_the_published_keys_before_and_after_a_rotation() {
    let ready = Ready::on(SQLITE).await;
    let plane = &ready.plane;
    let older = ready.connected.delegation_token.clone();
    plane.engine.rotate_keys().await.unwrap();
    let bob = plane.person("bob").await;
    let newer = plane.connect(&bob, plane.acme(), SCOPES).await.delegation_token;
    let jwks = plane.get("/.well-known/agent-jwks.json").await.json();
    let expected = json!({ "typ": "aap-delegation+jwt", "issuer": plane.service(), "now": plane.now().secs() });
    for mut judge in Judge::all() {
        for token in [&older, &newer] {
            let forged = judge.verify(&jwks, &tampered(token), expected.clone());
            assert!(forged.get("refused").is_some(), "{}: {forged}", judge.name);
            let verified = judge.verify(&jwks, token, expected.clone());
            assert_eq!(verified["claims"], claims_of(token), "{}: {verified}", judge.name);
            assert_eq!(verified["header"]["alg"], "ES256");
        }
        let foreign = judge.verify(&json!({ "keys": [plane.acme().key.public_jwk()] }), &older, expected.clone());
        assert!(foreign.get("refused").is_some(), "{}: {foreign}", judge.name);
    }
}

#[tokio::test]
async fn our_operators_signatures_verify_against_their_published_key_sets() {
    let ready = Ready::on(SQLITE).await;
    let acme = ready.plane.acme();
    let jwks = json!({ "keys": [acme.key.public_jwk()] });
    let tokens = [
        ("aap-operator+jwt", acme.sign_operator(&ready.operator_claims()), ready.operator_claims()),
        ("aap-consent+jwt", acme.sign_receipt(&ready.receipt()), ready.receipt()),
    ];
    for mut judge in Judge::all() {
        for (typ, jwt, claims) in &tokens {
            let expected = json!({
                "typ": typ,
                "issuer": "acme.test",
                "audience": ready.plane.service(),
                "now": ready.plane.now().secs(),
            });
            let verified = judge.verify(&jwks, jwt, expected);
            assert_eq!(&verified["claims"], claims, "{}: {verified}", judge.name);
        }
        assert_eq!(judge.thumbprint(&jwks["keys"][0]), acme.key.thumbprint(), "{}", judge.name);
    }
}

/// AAP-23-03, AAP-23-04, AAP-23-06
#[tokio::test]
async fn the_published_vectors_match_their_descriptions() {
    let vectors: Value = serde_json::from_str(include_str!("../../../../../tests/data/aap-vectors.json")).unwrap();
    let expected = json!({
        "issuer": "test-operator.aap.dev",
        "audience": "https://test-service.aap.dev",
        "now": 1_748_822_460,
    });
    for mut judge in Judge::all() {
        for (name, passes) in [
            ("operator_jwt", true),
            ("consent_receipt", true),
            ("TV-F-01", false),
            ("TV-F-02", false),
            ("TV-F-03", false),
            ("TV-F-04", false),
            ("TV-F-05", false),
            ("TV-F-07", false),
        ] {
            let answer = judge.verify(&vectors["jwks"], vectors[name].as_str().unwrap(), expected.clone());
            assert_eq!(answer.get("claims").is_some(), passes, "{} {name}: {answer}", judge.name);
        }
    }
}
