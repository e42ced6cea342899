use super::{INVALID_PROOF, MAX_JTI_CHARS, ProofClaims, USE_NONCE, challenge};
use serde_json::{Map, Value, json};

fn payload(jti: &str) -> Map<String, Value> {
    let claims = json!({ "jti": jti, "htm": "GET", "htu": "https://api.example/a", "iat": 1 });
    claims.as_object().unwrap().clone()
}

#[test]
fn a_challenge_names_the_algorithms_and_the_error() {
    assert_eq!(challenge(Some(USE_NONCE)), r#"DPoP error="use_dpop_nonce", algs="ES256 PS256""#);
    assert_eq!(challenge(Some(INVALID_PROOF)), r#"DPoP error="invalid_dpop_proof", algs="ES256 PS256""#);
    assert_eq!(challenge(None), r#"DPoP algs="ES256 PS256""#);
}

#[test]
fn a_jti_is_bounded_in_characters_and_not_in_bytes() {
    assert!(ProofClaims::parse(&payload("")).is_err());
    assert!(ProofClaims::parse(&payload(&"é".repeat(MAX_JTI_CHARS + 1))).is_err());
    assert!(ProofClaims::parse(&payload(&"é".repeat(MAX_JTI_CHARS))).is_ok());
}

#[test]
fn absent_members_are_not_written() {
    let payload = payload("a");
    let claims = ProofClaims::parse(&payload).unwrap();
    assert_eq!(json!(claims), Value::Object(payload.clone()));
}
