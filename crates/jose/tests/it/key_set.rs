//! Which keys of a set are used (AAP 20.1, 23).

use super::support::{
    KEY, NOW, b64, es256, expected, key_set, operator_claims, public_key, rsa_public_key, token, with,
};
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::RsaKeyPair;
use countersign_jose::{
    KeyFlaw, KeyPolicy, KeySet, KeySetRefusal, MAX_SET_BYTES, MAX_SET_KEYS, NoKey, OperatorRefusal, SigningKey,
    Unsigned, verify_operator,
};
use serde_json::{Value, json};

fn parse(bytes: &[u8]) -> Result<KeySet, KeySetRefusal> {
    KeySet::parse(bytes, &KeyPolicy::default())
}

fn flaw_of(jwk: Value) -> KeyFlaw {
    match key_set(&[jwk]).find("op-1").unwrap_err() {
        NoKey::Unusable(flaw) => flaw,
        NoKey::Unknown => panic!("the key is not listed at all"),
    }
}

#[test]
fn an_invalid_key_set_is_refused_as_a_whole() {
    for text in ["", "{", "[]", "{}", r#"{"keys":{}}"#, r#"{"keys":null}"#] {
        assert!(parse(text.as_bytes()).is_err(), "{text}");
    }
    let twice = r#"{"keys":[],"keys":[]}"#;
    assert_eq!(parse(twice.as_bytes()).unwrap_err(), KeySetRefusal::NotJson);
    let key_twice = r#"{"keys":[{"kid":"a","kid":"b","kty":"EC"}]}"#;
    assert_eq!(parse(key_twice.as_bytes()).unwrap_err(), KeySetRefusal::NotJson);
}

#[test]
fn a_set_beyond_its_bounds_is_refused() {
    let padded = json!({ "keys": [], "padding": "x".repeat(MAX_SET_BYTES) }).to_string();
    assert_eq!(parse(padded.as_bytes()).unwrap_err(), KeySetRefusal::TooLarge);
    let many = json!({ "keys": vec![json!({}); MAX_SET_KEYS + 1] }).to_string();
    assert_eq!(parse(many.as_bytes()).unwrap_err(), KeySetRefusal::TooMany);
}

/// AAP-20.1-01
#[test]
fn a_key_without_a_kid_is_never_used_even_if_it_is_the_only_one() {
    for kid in [Value::Null, json!(""), json!(7)] {
        let keys = key_set(&[with(public_key("ES256"), "kid", kid)]);
        assert_eq!(keys.kids().count(), 0);
        assert_eq!(keys.flaws().collect::<Vec<_>>(), [(None, KeyFlaw::NoKid)]);
        let jwt = KEY.sign("JWT", &operator_claims()).unwrap();
        let refusal = verify_operator(&jwt, &keys, expected(), NOW).unwrap_err();
        assert_eq!(refusal, OperatorRefusal::Unsigned(NoKey::Unknown.into()));
    }
}

#[test]
fn two_keys_of_one_name_are_both_out() {
    let other = SigningKey::generate(Some("op-1")).unwrap();
    let keys = [json!(KEY.public_jwk()), json!(other.public_jwk())];
    for keys in [vec![&keys[0], &keys[1]], vec![&keys[1], &keys[0]], vec![&keys[0], &keys[0]], vec![&keys[0]; 3]] {
        let keys = key_set(&keys.into_iter().cloned().collect::<Vec<_>>());
        assert_eq!(keys.find("op-1").unwrap_err(), NoKey::Unusable(KeyFlaw::SameKid));
    }
}

/// AAP-20.1-03
#[test]
fn a_token_signed_by_one_key_under_the_name_of_another_is_refused() {
    let other = SigningKey::generate(Some("op-2")).unwrap();
    let keys = key_set(&[json!(KEY.public_jwk()), json!(other.public_jwk())]);
    let header = json!({ "alg": "ES256", "kid": "op-1", "typ": "JWT" }).to_string();
    let jwt = token(&header, &operator_claims().to_string(), |message| es256(&other, message));
    let refusal = verify_operator(&jwt, &keys, expected(), NOW).unwrap_err();
    assert_eq!(refusal, OperatorRefusal::Unsigned(Unsigned::Signature));
}

#[test]
fn a_key_with_a_private_member_is_never_used() {
    for member in ["d", "p", "q", "dp", "dq", "qi", "oth", "k"] {
        for key in ["ES256", "RS256"] {
            assert_eq!(flaw_of(with(public_key(key), member, "AA".into())), KeyFlaw::Private, "{member}");
            assert_eq!(flaw_of(with(public_key(key), member, false.into())), KeyFlaw::Private, "{member}");
        }
    }
}

/// AAP-20.4-02
#[test]
fn a_symmetric_key_is_never_used() {
    assert_eq!(flaw_of(json!({ "kid": "op-1", "kty": "oct", "k": "c2VjcmV0", "alg": "HS256" })), KeyFlaw::Private);
    assert_eq!(flaw_of(json!({ "kid": "op-1", "kty": "oct" })), KeyFlaw::Unsupported);
    assert_eq!(flaw_of(with(public_key("RS256"), "alg", "HS256".into())), KeyFlaw::Algorithm);
}

#[test]
fn types_curves_and_purposes_that_do_not_fit_are_never_used() {
    assert_eq!(flaw_of(public_key("EdDSA")), KeyFlaw::Unsupported);
    assert_eq!(flaw_of(public_key("ES512")), KeyFlaw::Unsupported);
    assert_eq!(flaw_of(with(public_key("ES256"), "kty", Value::Null)), KeyFlaw::Unsupported);
    assert_eq!(flaw_of(with(public_key("ES256"), "crv", "secp256k1".into())), KeyFlaw::Unsupported);
    assert_eq!(flaw_of(with(public_key("ES256"), "alg", "ES384".into())), KeyFlaw::Algorithm);
    assert_eq!(flaw_of(with(public_key("ES256"), "alg", 7.into())), KeyFlaw::Algorithm);
    assert_eq!(flaw_of(with(public_key("RS256"), "alg", "PS384".into())), KeyFlaw::Algorithm);
    assert_eq!(flaw_of(with(public_key("ES256"), "use", "enc".into())), KeyFlaw::Purpose);
    assert_eq!(flaw_of(with(public_key("ES256"), "key_ops", json!(["encrypt"]))), KeyFlaw::Purpose);
}

#[test]
fn numbers_that_are_no_key_are_never_used() {
    let off_the_curve = json!("A".repeat(43));
    let short = json!("A".repeat(42));
    for (member, value) in [("x", Value::Null), ("y", Value::Null), ("x", off_the_curve), ("y", short)] {
        assert_eq!(flaw_of(with(public_key("ES256"), member, value)), KeyFlaw::BadNumbers, "{member}");
    }
    assert_eq!(flaw_of(with(public_key("ES384"), "crv", "P-256".into())), KeyFlaw::BadNumbers);
    assert_eq!(flaw_of(with(public_key("RS256"), "n", "not base64url!".into())), KeyFlaw::BadNumbers);
}

#[test]
fn weak_rsa_keys_are_never_used() {
    let modulus = |first: u8, length: usize, last: u8| [vec![first], vec![0xff; length - 2], vec![last]].concat();
    // 1024 bits, 2047 bits, more than 8192 bits, a leading zero, an even number.
    let moduli = [(0xff, 128, 1), (0x7f, 256, 1), (0xff, 1025, 1), (0, 257, 1), (0xff, 256, 2)];
    let moduli = moduli.map(|(first, length, last)| ("n", b64(modulus(first, length, last))));
    let exponents = [vec![], vec![1], vec![2], vec![0, 1, 0, 1], vec![1, 0, 0, 0, 1]].map(|bytes| ("e", b64(bytes)));
    for (member, value) in moduli.into_iter().chain(exponents) {
        assert_eq!(flaw_of(with(public_key("RS256"), member, value.clone().into())), KeyFlaw::WeakRsa, "{value}");
    }
}

#[test]
fn one_bad_key_does_not_spoil_the_others() {
    let keys = key_set(&[
        json!("not even an object"),
        json!({ "kid": "bad", "kty": "oct", "k": "AA" }),
        public_key("ES256"),
        with(rsa_public_key(&RsaKeyPair::generate(KeySize::Rsa3072).unwrap()), "kid", "rsa".into()),
    ]);
    assert_eq!(keys.kids().collect::<Vec<_>>(), ["op-1", "rsa"]);
    assert_eq!(keys.flaws().collect::<Vec<_>>(), [(Some("bad"), KeyFlaw::Private)]);
    assert!(keys.get("op-1").is_some() && keys.get("bad").is_none() && keys.get("absent").is_none());
}
