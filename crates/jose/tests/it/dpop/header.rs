//! Keys embedded in the proof header: only plain public keys of the two supported types.

use super::{claims, good, headed, header, jkt, verify, verify_with};
use crate::support::{NOW, b64, public_key, raw, rsa_public_key, sign, token, with};
use aws_lc_rs::{rsa::KeySize, signature::RsaKeyPair};
use countersign_jose::{DpopRefusal, KeyFlaw, KeyPolicy, Malformed, ProofKeys};
use serde_json::{Value, json};

/// AAP-18.1-03
#[test]
fn a_header_without_a_key_is_refused() {
    for jwk in [Value::Null, json!("key"), json!([public_key("ES256")]), json!(1)] {
        assert_eq!(headed("jwk", jwk.clone()), Err(DpopRefusal::NoJwk), "{jwk}");
    }
    let named_only = with(with(header(), "jwk", Value::Null), "kid", "op-1".into());
    assert_eq!(verify(&raw(&named_only.to_string(), &claims().to_string())), Err(DpopRefusal::NoJwk));
}

#[test]
fn a_header_may_not_demand_extensions_or_point_to_another_key() {
    for member in ["crit", "b64", "jku", "x5u", "x5c"] {
        assert_eq!(headed(member, json!([])), Err(Malformed::RefusedHeader(member).into()));
    }
    assert!(headed("kid", "any name".into()).is_ok(), "a name that nobody asks for does no harm");
}

#[test]
fn a_key_of_another_type_than_the_algorithm_is_refused() {
    assert_eq!(headed("jwk", public_key("PS256")), Err(DpopRefusal::OtherAlgorithm));
    assert_eq!(headed("jwk", public_key("ES384")), Err(DpopRefusal::OtherAlgorithm));
    assert_eq!(headed("alg", "PS256".into()), Err(DpopRefusal::OtherAlgorithm));
    assert_eq!(headed("jwk", public_key("EdDSA")), Err(DpopRefusal::Key(KeyFlaw::Unsupported)));
    let own_word = with(public_key("PS256"), "alg", "RS256".into());
    assert_eq!(verify(&ps256(&own_word)), Err(DpopRefusal::OtherAlgorithm), "the key says that it is for RS256");
}

#[test]
fn a_key_that_is_no_point_or_weak_is_refused() {
    for (member, value) in [("x", b64([1; 32])), ("y", b64([0; 32])), ("x", b64([1; 31])), ("y", "+".into())] {
        let jwk = with(public_key("ES256"), member, value.into());
        assert_eq!(headed("jwk", jwk), Err(DpopRefusal::Key(KeyFlaw::BadNumbers)), "{member}");
    }
    let encryption = with(public_key("ES256"), "use", "enc".into());
    assert_eq!(headed("jwk", encryption), Err(DpopRefusal::Key(KeyFlaw::Purpose)));
    let weak = with(public_key("PS256"), "n", b64([0xc5; 128]).into());
    assert_eq!(verify(&ps256(&weak)), Err(DpopRefusal::Key(KeyFlaw::WeakRsa)));
    let every_message_signs_itself = with(public_key("PS256"), "e", b64([1]).into());
    assert_eq!(verify(&ps256(&every_message_signs_itself)), Err(DpopRefusal::Key(KeyFlaw::WeakRsa)));
}

/// A key with a published private half proves nothing, but the protocol's test vectors use it.
#[test]
fn the_published_test_key_is_refused_unless_it_is_allowed() {
    let published = json!({
        "kty": "EC", "crv": "P-256",
        "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
    });
    assert_eq!(headed("jwk", published.clone()), Err(DpopRefusal::Key(KeyFlaw::PublishedTestKey)));
    let allowing = ProofKeys::new(KeyPolicy { allow_published_test_keys: true });
    let proof = raw(&with(header(), "jwk", published).to_string(), &claims().to_string());
    assert_eq!(verify_with(&proof, &allowing), Err(DpopRefusal::Signature), "the key is taken, and did not sign this");
}

/// AAP-18.3-03
#[test]
fn an_rsa_key_proves_possession_with_ps256_and_not_with_the_older_padding() {
    let header = json!({ "typ": "dpop+jwt", "alg": "PS256", "jwk": public_key("PS256") }).to_string();
    let other_padding = token(&header, &claims().to_string(), |message| sign("RS256", message));
    assert_eq!(verify(&other_padding), Err(DpopRefusal::Signature));
    let longer_hash = token(&header, &claims().to_string(), |message| sign("PS384", message));
    assert_eq!(verify(&longer_hash), Err(DpopRefusal::Signature));
    let keys = ProofKeys::default();
    for _ in 0..2 {
        let fact = verify_with(&ps256(&public_key("PS256")), &keys).unwrap();
        assert_ne!(*fact.jkt(), jkt());
    }
    let strangers = rsa_public_key(&RsaKeyPair::generate(KeySize::Rsa2048).unwrap());
    assert_eq!(verify_with(&ps256(&strangers), &keys), Err(DpopRefusal::Signature));
}

/// The thumbprint covers the key alone, not its name, member order or other members (RFC 7638).
#[test]
fn the_same_key_has_the_same_thumbprint_however_it_is_written() {
    let plain = with(with(public_key("ES256"), "kid", Value::Null), "use", Value::Null);
    let decorated = with(with(public_key("ES256"), "key_ops", json!(["verify"])), "ext", true.into());
    for jwk in [plain, decorated] {
        assert_eq!(*headed("jwk", jwk).unwrap().jkt(), jkt());
    }
}

#[test]
fn a_header_that_was_seen_before_excuses_nothing_else() {
    let keys = ProofKeys::default();
    verify_with(&good(), &keys).unwrap();
    verify_with(&good(), &keys).unwrap();
    let cases = [
        ("htm", json!("GET"), DpopRefusal::Method),
        ("htu", json!("https://evil.example/"), DpopRefusal::Address),
        ("iat", json!(NOW.plus_secs(-301).secs()), DpopRefusal::TooOld),
        ("ath", Value::Null, DpopRefusal::NoToken),
    ];
    for (claim, value, refusal) in cases {
        let proof = raw(&header().to_string(), &with(claims(), claim, value).to_string());
        assert_eq!(verify_with(&proof, &keys), Err(refusal), "{claim}");
    }
}

fn ps256(jwk: &Value) -> String {
    let header = json!({ "typ": "dpop+jwt", "alg": "PS256", "jwk": jwk }).to_string();
    token(&header, &claims().to_string(), |message| sign("PS256", message))
}
