//! The published vectors, with the private key matching their public part (C-33, C-34).

use super::support::{NOW, SERVICE, expected};
use aws_lc_rs::agreement::{ECDH_P256, PrivateKey};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_jose::{
    KeyFlaw, KeyPolicy, KeySet, NoKey, OperatorRefusal, ReceiptRefusal, SigningKey, Unsigned, peek, verify_operator,
    verify_receipt,
};
use countersign_protocol::domain::Domain;
use serde_json::Value;
use std::sync::LazyLock;

static VECTORS: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../../../tests/data/aap-vectors.json")).unwrap());
static KEYS: LazyLock<KeySet> = LazyLock::new(|| {
    let policy = KeyPolicy { allow_published_test_keys: true };
    KeySet::parse(VECTORS["jwks"].to_string().as_bytes(), &policy).unwrap()
});

fn vector(name: &str) -> &str {
    VECTORS[name].as_str().unwrap()
}

fn refused(name: &str) -> OperatorRefusal {
    verify_operator(vector(name), &KEYS, expected(), NOW).unwrap_err()
}

#[test]
fn a_token_that_ends_before_it_begins_is_expired_before_any_skew() {
    assert_eq!(refused("TV-F-01"), OperatorRefusal::Expired);
}

#[test]
fn a_flipped_signature_byte_is_refused() {
    assert_eq!(refused("TV-F-02"), OperatorRefusal::Unsigned(Unsigned::Signature));
}

#[test]
fn an_unknown_kid_is_named_before_the_claim_that_contradicts_it() {
    assert_eq!(refused("TV-F-03"), OperatorRefusal::Unsigned(Unsigned::NoKey(NoKey::Unknown)));
    assert!(refused("TV-F-03").is_unknown_kid());
}

#[test]
fn an_operator_is_found_by_the_issuer_that_the_token_names() {
    let seen = peek(vector("TV-F-04")).unwrap();
    assert_eq!(seen.iss, "no-manifest.aap.dev");
    // Signed by the test operator's key, but the token names another issuer, so it fails for both.
    assert_eq!(refused("TV-F-04"), OperatorRefusal::WrongIssuer);
}

#[test]
fn a_token_for_another_service_is_refused() {
    assert_eq!(refused("TV-F-05"), OperatorRefusal::WrongAudience);
}

#[test]
fn a_receipt_for_another_service_has_another_refusal_than_a_bad_one() {
    let refusal = verify_receipt(vector("TV-F-07"), &KEYS, expected(), NOW).unwrap_err();
    assert_eq!(refusal, ReceiptRefusal::WrongService);
}

#[test]
fn the_operator_jwt_passes() {
    let fact = verify_operator(vector("operator_jwt"), &KEYS, expected(), NOW).unwrap();
    assert_eq!(fact.domain().as_str(), "test-operator.aap.dev");
    assert_eq!(fact.kid(), "aap-test-op-1");
    assert_eq!(fact.expires_at().secs(), 1_748_826_000);
}

#[test]
fn the_consent_receipt_passes() {
    let fact = verify_receipt(vector("consent_receipt"), &KEYS, expected(), NOW).unwrap();
    assert_eq!((fact.claims().sub.as_str(), fact.claims().aud.as_str()), ("user_test_001", SERVICE));
    assert_eq!(fact.claims().scopes, ["calendar.read", "calendar.write"]);
    assert_eq!(fact.claims().intent_type.as_deref(), Some("SCHEDULE_EVENT"));
    assert!(!format!("{fact:?}").contains("meeting"), "the intent stayed");
}

/// AAP-23-01
#[test]
fn the_published_key_is_refused_unless_the_policy_allows_it() {
    let keys = KeySet::parse(VECTORS["jwks"].to_string().as_bytes(), &KeyPolicy::default()).unwrap();
    assert_eq!(keys.find("aap-test-op-1").unwrap_err(), NoKey::Unusable(KeyFlaw::PublishedTestKey));
    let refusal = verify_operator(vector("operator_jwt"), &keys, expected(), NOW).unwrap_err();
    assert_eq!(refusal, OperatorRefusal::Unsigned(Unsigned::NoKey(NoKey::Unusable(KeyFlaw::PublishedTestKey))));
}

/// AAP-23-01
#[test]
fn the_private_number_yields_the_public_ones() {
    let d = URL_SAFE_NO_PAD.decode(vector("private_d")).unwrap();
    let derived = PrivateKey::from_private_key(&ECDH_P256, &d).unwrap().compute_public_key().unwrap();
    let published = &VECTORS["jwks"]["keys"][0];
    assert_eq!(URL_SAFE_NO_PAD.encode(&derived.as_ref()[1..33]), published["x"]);
    assert_eq!(URL_SAFE_NO_PAD.encode(&derived.as_ref()[33..]), published["y"]);
}

#[test]
fn a_signature_of_the_published_key_verifies_with_its_public_part() {
    let mut jwk = VECTORS["jwks"]["keys"][0].clone();
    jwk["d"] = VECTORS["private_d"].clone();
    let key = SigningKey::from_jwk(&jwk).unwrap();
    let domain = Domain::parse("test-operator.aap.dev").unwrap();
    let claims = serde_json::json!({ "iss": domain, "aud": SERVICE, "iat": NOW.secs(), "exp": NOW.secs() + 60 });
    assert!(verify_operator(&key.sign("JWT", &claims).unwrap(), &KEYS, expected(), NOW).is_ok());
    assert_eq!(KEYS.get("aap-test-op-1").unwrap().thumbprint(), key.thumbprint());
}
