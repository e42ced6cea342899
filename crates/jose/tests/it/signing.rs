//! Our own signing keys.

use super::support::{KEY, operator_claims};
use countersign_jose::{BadSigningKey, KeyPolicy, KeySet, SigningKey, peek};
use countersign_protocol::aap::jwks::Jwks;
use serde_json::json;

#[test]
fn a_private_jwk_whose_halves_do_not_belong_together_is_refused() {
    // RFC 7515 A.3 with another key's public point.
    let public = json!(KEY.public_jwk());
    let mixed = json!({
        "kty": "EC", "crv": "P-256", "x": public["x"], "y": public["y"],
        "d": "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI",
    });
    assert_eq!(SigningKey::from_jwk(&mixed).unwrap_err(), BadSigningKey);
    assert_eq!(SigningKey::from_jwk(&public).unwrap_err(), BadSigningKey);
    assert_eq!(SigningKey::from_pkcs8(None, b"not a key").unwrap_err(), BadSigningKey);
}

#[test]
fn a_key_is_not_printed() {
    let printed = format!("{:?}", *KEY);
    assert_eq!(printed, r#"SigningKey { kid: "op-1", .. }"#);
}

/// AAP-20.1-01, AAP-20.4-03
#[test]
fn published_keys_are_public_named_and_for_es256() {
    let key = SigningKey::generate(None).unwrap();
    let published = json!(Jwks { keys: vec![key.public_jwk().clone()] });
    let members: Vec<_> = published["keys"][0].as_object().unwrap().keys().collect();
    assert_eq!(members, ["alg", "crv", "kid", "kty", "use", "x", "y"]);
    assert_eq!(published["keys"][0]["alg"], "ES256");
    assert_eq!(key.kid(), &key.thumbprint()[..16]);
    let keys = KeySet::parse(published.to_string().as_bytes(), &KeyPolicy::default()).unwrap();
    assert_eq!(keys.get(key.kid()).unwrap().thumbprint(), key.thumbprint());
}

/// AAP-20.4-03
#[test]
fn tokens_name_their_key_and_their_kind() {
    let seen = peek(&KEY.sign("aap-operator+jwt", &operator_claims()).unwrap()).unwrap();
    assert_eq!((seen.alg, seen.kid.as_str()), (countersign_jose::Algorithm::ES256, "op-1"));
    assert_eq!(seen.typ.as_deref(), Some("aap-operator+jwt"));
}

#[test]
fn a_stored_key_is_the_same_key() {
    let again = SigningKey::from_pkcs8(Some("op-1"), &KEY.to_pkcs8()).unwrap();
    assert_eq!(again.public_jwk(), KEY.public_jwk());
    assert_ne!(SigningKey::generate(None).unwrap().thumbprint(), SigningKey::generate(None).unwrap().thumbprint());
}
