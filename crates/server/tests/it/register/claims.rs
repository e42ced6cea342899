//! Every claim and the signature of every token of a registration are checked (RFC 8725, AAP 4.1, 5.2, 19.3).

use super::support::{Ready, SQLITE, claims_of, header_of, told, with};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_testkit::Setup;
use serde_json::{Value, json};

/// A member of the body with its token, and the refusal of one with a missing claim or without a signature.
const KINDS: [(&str, &str); 3] = [
    ("operator_jwt", "operator_jwt_invalid"),
    ("consent_receipt", "consent_invalid"),
    ("delegation_token", "delegation_invalid"),
];

/// A claim of each kind, a wrong value in seconds from now or as it stands, and the refusal. A delegation token has no audience.
fn wrong_claims(now: i64) -> Vec<(&'static str, &'static str, Value, u16, &'static str)> {
    let (late, over) = (json!(now + 301), json!(now - 301));
    let elsewhere = || json!("https://elsewhere.test");
    vec![
        ("operator_jwt", "iss", json!("other.test"), 401, "operator_jwt_invalid"),
        ("operator_jwt", "aud", elsewhere(), 401, "operator_jwt_invalid"),
        ("operator_jwt", "iat", late.clone(), 401, "operator_jwt_invalid"),
        ("operator_jwt", "exp", over.clone(), 401, "operator_jwt_expired"),
        ("consent_receipt", "iss", json!("other.test"), 401, "consent_invalid"),
        ("consent_receipt", "aud", elsewhere(), 403, "consent_service_mismatch"),
        ("consent_receipt", "iat", late.clone(), 401, "consent_invalid"),
        ("consent_receipt", "exp", over.clone(), 401, "consent_expired"),
        ("delegation_token", "iss", elsewhere(), 401, "delegation_invalid"),
        ("delegation_token", "iat", late, 401, "delegation_invalid"),
        ("delegation_token", "exp", over, 401, "delegation_expired"),
    ]
}

/// AAP-G-34
#[tokio::test]
async fn of_every_token_each_claim_and_the_signature_count() {
    let setup = Setup { operators: vec!["acme.test", "other.test"], ..Setup::default() };
    let ready = Ready::with(SQLITE, setup).await;
    // Everything was issued a while ago, so that an earlier end is not an end before the beginning.
    ready.plane.advance_secs(900).await;
    let now = ready.plane.now().secs();
    for (member, claim, value, status, code) in wrong_claims(now) {
        let long = with(with(sound(&ready, member), "iat", json!(now - 800)), "exp", json!(now + 800));
        let token = signed(&ready, member, &with(long, claim, value)).await;
        let body = with(ready.body(), member, json!(token));
        assert_eq!(ready.refusal(&body).await, told(status, code), "{member}: wrong {claim}");
    }
    for (member, code) in KINDS {
        for claim in ["iss", "aud", "iat", "exp"] {
            let lacking = with(sound(&ready, member), claim, Value::Null);
            if lacking == sound(&ready, member) {
                continue;
            }
            let body = with(ready.body(), member, json!(signed(&ready, member, &lacking).await));
            assert_eq!(ready.refusal(&body).await, told(401, code), "{member}: no {claim}");
        }
        let token = signed(&ready, member, &sound(&ready, member)).await;
        for (what, unsigned) in unsigned(&token) {
            let body = with(ready.body(), member, json!(unsigned));
            assert_eq!(ready.refusal(&body).await, told(401, code), "{member}: {what}");
        }
        ready.register(&with(ready.body(), member, json!(token))).await.expect(200);
    }
}

fn sound(ready: &Ready, member: &str) -> Value {
    match member {
        "operator_jwt" => ready.operator_claims(),
        "consent_receipt" => ready.receipt(),
        _ => claims_of(&ready.connected.delegation_token),
    }
}

/// Under the right key: of the operator, or of the service.
async fn signed(ready: &Ready, member: &str, claims: &Value) -> String {
    match member {
        "operator_jwt" => ready.plane.acme().sign_operator(claims),
        "consent_receipt" => ready.plane.acme().sign_receipt(claims),
        _ => ready.plane.sign_delegation(claims).await,
    }
}

/// The token without its signature, and declared to need none.
fn unsigned(token: &str) -> Vec<(&'static str, String)> {
    let (content, signature) = token.rsplit_once('.').unwrap();
    let claims = content.split_once('.').unwrap().1;
    let declared = |alg: &str| URL_SAFE_NO_PAD.encode(with(header_of(token), "alg", json!(alg)).to_string());
    vec![
        ("an empty signature", format!("{content}.")),
        ("alg none", format!("{}.{claims}.", declared("none"))),
        ("alg None", format!("{}.{claims}.", declared("None"))),
        ("alg none over a signature", format!("{}.{claims}.{signature}", declared("none"))),
        (
            "no alg",
            format!("{}.{claims}.", URL_SAFE_NO_PAD.encode(with(header_of(token), "alg", Value::Null).to_string())),
        ),
    ]
}
