//! Supported algorithms and the keys they verify with (AAP 20.4).

use super::support::{NOW, expected, key_set, operator_claims, public_key, sign, token, with};
use aws_lc_rs::hmac;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_jose::{Malformed, OperatorRefusal, Unsigned, verify_operator};
use countersign_protocol::facts::VerifiedOperator;
use serde_json::{Value, json};

const PERMITTED: [&str; 6] = ["RS256", "RS384", "RS512", "ES256", "ES384", "PS256"];

fn header(alg: &str) -> String {
    json!({ "alg": alg, "kid": "op-1", "typ": "JWT" }).to_string()
}

/// A token with `alg` in its header, signed with the algorithm `really`, verified with the key `jwk`.
fn shown(alg: &str, really: &str, jwk: Value) -> Result<VerifiedOperator, OperatorRefusal> {
    let jwt = token(&header(alg), &operator_claims().to_string(), |message| sign(really, message));
    verify_operator(&jwt, &key_set(&[jwk]), expected(), NOW)
}

fn refused_as(why: Unsigned) -> Result<VerifiedOperator, OperatorRefusal> {
    Err(OperatorRefusal::Unsigned(why))
}

/// AAP-20.4-01
#[test]
fn algorithms_that_the_protocol_does_not_list_are_refused_with_a_good_signature_too() {
    for alg in ["EdDSA", "ES512", "PS384", "PS512", "ES256K", "none", "None", "es256", ""] {
        assert_eq!(shown(alg, alg, public_key(alg)), refused_as(Malformed::Algorithm.into()), "{alg}");
    }
}

/// AAP-20.4-02
#[test]
fn a_public_key_is_no_shared_secret() {
    let jwk = public_key("RS256");
    let secrets = [jwk.to_string().into_bytes(), URL_SAFE_NO_PAD.decode(jwk["n"].as_str().unwrap()).unwrap()];
    for (alg, secret) in [("HS256", &secrets[0]), ("HS256", &secrets[1]), ("RS256", &secrets[1])] {
        let jwt = token(&header(alg), &operator_claims().to_string(), |message| {
            hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), message).as_ref().to_vec()
        });
        assert!(verify_operator(&jwt, &key_set(std::slice::from_ref(&jwk)), expected(), NOW).is_err(), "{alg}");
    }
}

#[test]
fn an_algorithm_of_another_type_of_key_is_refused() {
    let pairs = [("ES256", "RS256"), ("RS256", "ES256"), ("ES256", "ES384"), ("ES384", "ES256"), ("PS256", "ES256")];
    for (alg, key) in pairs {
        assert_eq!(shown(alg, alg, public_key(key)), refused_as(Unsigned::Algorithm), "{alg} with a key for {key}");
        assert_eq!(shown(alg, key, public_key(key)), refused_as(Unsigned::Algorithm), "{alg} signed as {key}");
    }
}

#[test]
fn an_algorithm_other_than_the_key_s_own_is_refused() {
    for (alg, own) in [("RS256", "RS512"), ("RS256", "PS256"), ("PS256", "RS256"), ("RS384", "RS256")] {
        let jwk = with(public_key(alg), "alg", own.into());
        assert_eq!(shown(alg, alg, jwk), refused_as(Unsigned::Algorithm), "{alg} with a key for {own}");
    }
}

#[test]
fn a_signature_of_one_algorithm_is_none_of_another() {
    for (alg, really) in [("RS256", "PS256"), ("PS256", "RS256"), ("RS512", "RS256"), ("RS256", "none")] {
        assert_eq!(shown(alg, really, public_key(alg)), refused_as(Unsigned::Signature), "{alg} signed as {really}");
    }
}

/// AAP-20.4-01
#[test]
fn each_of_the_six_verifies() {
    for alg in PERMITTED {
        assert!(shown(alg, alg, public_key(alg)).is_ok(), "{alg}");
        assert!(shown(alg, alg, with(public_key(alg), "alg", alg.into())).is_ok(), "{alg} stated by the key");
    }
}
