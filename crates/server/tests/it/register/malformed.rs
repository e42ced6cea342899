//! Malformed tokens, each refused under the name of its member.

use super::support::{Ready, SQLITE, told, unsigned, with};
use serde_json::json;

const MEMBERS: [(&str, &str); 3] = [
    ("operator_jwt", "operator_jwt_invalid"),
    ("delegation_token", "delegation_invalid"),
    ("consent_receipt", "consent_invalid"),
];

fn sound(ready: &Ready, member: &str) -> String {
    match member {
        "operator_jwt" => ready.plane.acme().sign_operator(&ready.operator_claims()),
        "delegation_token" => ready.connected.delegation_token.clone(),
        _ => ready.plane.acme().sign_receipt(&ready.receipt()),
    }
}

#[tokio::test]
async fn a_text_that_is_no_jwt_is_refused_in_every_place() {
    let ready = Ready::on(SQLITE).await;
    for (member, code) in MEMBERS {
        let sound = sound(&ready, member);
        let parts: Vec<&str> = sound.split('.').collect();
        let (header, payload, signature) = (parts[0], parts[1], parts[2]);
        let odd = [
            "x".to_owned(),
            "..".to_owned(),
            "a.b.c".to_owned(),
            "é.ü.ß".to_owned(),
            format!("{header}.{payload}"),
            format!("{header}.{payload}."),
            format!("{header}..{signature}"),
            format!(".{payload}.{signature}"),
            format!("{sound}."),
            format!("{sound}.{signature}"),
            format!("{sound}="),
            format!(" {sound}"),
            format!("{sound}\n"),
            format!("{header}.{payload}.{signature}{signature}"),
            format!("{payload}.{header}.{signature}"),
            format!("{header}.{header}.{signature}"),
            format!("Bearer {sound}"),
        ];
        for token in odd {
            let refusal = ready.refusal(&with(ready.body(), member, json!(token))).await;
            assert_eq!(refusal, told(401, code), "{member} {token:?}");
        }
        ready.register(&with(ready.body(), member, json!(sound))).await.expect(200);
    }
}

#[tokio::test]
async fn a_token_that_is_too_long_is_refused_before_it_is_read() {
    let ready = Ready::on(SQLITE).await;
    let acme = ready.plane.acme();
    let long = |claims, size: usize| with(claims, "padding", json!("x".repeat(size)));
    let too_long = [
        ("operator_jwt", acme.sign_operator(&long(ready.operator_claims(), 8_000)), "operator_jwt_invalid"),
        ("consent_receipt", acme.sign_receipt(&long(ready.receipt(), 8_000)), "consent_invalid"),
        ("delegation_token", "x".repeat(9_000), "delegation_invalid"),
    ];
    for (member, token, code) in too_long {
        assert!(token.len() > 8 * 1024);
        assert_eq!(ready.refusal(&with(ready.body(), member, json!(token))).await, told(401, code));
    }
    let long_enough = acme.sign_operator(&long(ready.operator_claims(), 5_000));
    ready.register(&with(ready.body(), "operator_jwt", json!(long_enough))).await.expect(200);
}

/// AAP-20.4-01, AAP-20.1-02
#[tokio::test]
async fn a_header_that_asks_for_something_else_than_a_published_key_is_refused() {
    let ready = Ready::on(SQLITE).await;
    let acme = ready.plane.acme();
    let header = |member: &str, value| with(json!({ "alg": "ES256", "kid": "key-1", "typ": "JWT" }), member, value);
    let jwk = json!(acme.key.public_jwk());
    let odd = [
        header("alg", json!("none")),
        header("alg", json!("None")),
        header("alg", json!("es256")),
        header("alg", json!("HS256")),
        header("alg", json!("RS256")),
        header("alg", json!("ES384")),
        header("alg", json!(256)),
        header("kid", serde_json::Value::Null),
        header("kid", json!("")),
        header("kid", json!(1)),
        header("typ", json!(1)),
        header("crit", json!(["exp"])),
        header("b64", json!(false)),
        header("jwk", jwk),
        header("jku", json!("https://acme.test/.well-known/agent-jwks.json")),
        header("x5u", json!("https://acme.test/cert")),
        header("x5c", json!(["AAAA"])),
    ];
    for header in odd {
        let signed = acme.key.sign_with_header(&header, &ready.operator_claims()).unwrap();
        let receipt = acme.key.sign_with_header(&header, &ready.receipt()).unwrap();
        for (member, token, code) in [
            ("operator_jwt", signed, "operator_jwt_invalid"),
            ("operator_jwt", unsigned(&header, &ready.operator_claims()), "operator_jwt_invalid"),
            ("consent_receipt", receipt, "consent_invalid"),
        ] {
            let refusal = ready.refusal(&with(ready.body(), member, json!(token))).await;
            assert_eq!(refusal, told(401, code), "{member} {header}");
        }
    }
    // No key was fetched from an address in a header.
    let elsewhere = ready.plane.asked.urls().into_iter().filter(|url| url.contains("cert"));
    assert_eq!(elsewhere.count(), 0);
}

/// AAP-16.2-02
#[tokio::test]
async fn an_operator_jwt_counts_for_its_time_and_the_clocks_skew() {
    let ready = Ready::on(SQLITE).await;
    let now = ready.plane.now().secs();
    let lives = |iat: i64, exp: i64| with(with(ready.operator_claims(), "iat", json!(iat)), "exp", json!(exp));
    let refused = [
        (lives(now - 600, now - 301), "operator_jwt_expired"),
        (lives(now, now), "operator_jwt_expired"),
        (lives(now, now - 1), "operator_jwt_expired"),
        (lives(now + 301, now + 600), "operator_jwt_invalid"),
        (lives(now, now + 3901), "operator_jwt_invalid"),
    ];
    for (claims, code) in refused {
        assert_eq!(ready.refusal(&ready.body_by(&claims)).await, told(401, code), "{claims}");
    }
    for claim in ["iss", "aud", "iat", "exp"] {
        let claims = with(ready.operator_claims(), claim, serde_json::Value::Null);
        assert_eq!(ready.refusal(&ready.body_by(&claims)).await, told(401, "operator_jwt_invalid"), "{claim}");
    }
    for (claim, value) in [("iat", json!(now as f64 + 0.5)), ("exp", json!("9999999999")), ("aud", json!(["a"]))] {
        let claims = with(ready.operator_claims(), claim, value);
        assert_eq!(ready.refusal(&ready.body_by(&claims)).await, told(401, "operator_jwt_invalid"), "{claims}");
    }
    for claims in [lives(now - 600, now - 300), lives(now + 300, now + 600), lives(now, now + 3900)] {
        ready.register(&ready.body_by(&claims)).await.expect(200);
    }
}
