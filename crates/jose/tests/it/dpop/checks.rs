//! The checks of RFC 9449 4.3 that need no server state, by their numbers. The server makes the first (one header
//! field), the tenth (whether we issued the nonce) and the second half of the twelfth (the token's bound key).

use super::{TOKEN, claiming, claims, good, headed, header, jkt, verify, verify_with};
use crate::support::{NOW, es256, raw, sign, token, with};
use countersign_jose::{DpopRefusal, KeyFlaw, Malformed, ProofKeys, SigningKey};
use countersign_protocol::{aap::claims::BadClaim, hash::Digest};
use serde_json::{Value, json};

/// AAP-18-01
#[test]
fn two_a_proof_is_a_single_well_formed_jwt() {
    let good = good();
    let two = good.rsplit_once('.').unwrap().0.to_owned();
    let malformed =
        [String::new(), "x".into(), two, format!("{good}.AA"), format!("{good},{good}"), format!("{good} ")];
    for proof in malformed {
        assert!(matches!(verify(&proof), Err(DpopRefusal::Malformed(_))), "{proof}");
    }
    let twice = claims().to_string().replacen('{', r#"{"htm":"GET","#, 1);
    assert_eq!(verify(&raw(&header().to_string(), &twice)), Err(Malformed::Json("payload").into()));
    let twice = header().to_string().replacen('{', r#"{"alg":"PS256","#, 1);
    assert_eq!(verify(&raw(&twice, &claims().to_string())), Err(Malformed::Json("header").into()));
    let inside = header().to_string().replacen(r#""crv""#, r#""crv":"P-384","crv""#, 1);
    assert_eq!(verify(&raw(&inside, &claims().to_string())), Err(Malformed::Json("header").into()));
}

/// AAP-18-01, AAP-18.3-04
#[test]
fn three_every_required_claim_is_there_and_of_its_type() {
    for claim in ["jti", "htm", "htu", "iat"] {
        for value in [Value::Null, json!([]), json!({}), json!(true)] {
            let refused = claiming(claim, value);
            assert!(
                matches!(refused, Err(DpopRefusal::Claims(BadClaim::Wrong { claim: named, .. })) if named == claim),
                "{claim}"
            );
        }
    }
    for bare in ["{}", "[]", "null", ""] {
        assert!(verify(&raw(&header().to_string(), bare)).is_err(), "{bare}");
    }
}

/// AAP-18-01, AAP-18.3-03
#[test]
fn four_the_type_is_dpop_jwt_to_the_letter() {
    let others = [json!("JWT"), json!("dpop"), json!("DPoP+JWT"), json!("application/dpop+jwt"), json!("dpop+jwt ")];
    for typ in others.into_iter().chain([json!(""), json!(1), json!(["dpop+jwt"]), Value::Null]) {
        assert_eq!(headed("typ", typ.clone()), Err(DpopRefusal::Typ), "{typ}");
    }
}

/// AAP-18-01, AAP-18.3-03
#[test]
fn five_the_algorithm_is_es256_or_ps256_though_another_signed_well() {
    for alg in ["RS256", "RS384", "RS512", "ES384", "ES512", "PS384", "PS512", "EdDSA", "none", "HS256", "es256", ""] {
        let jwk = crate::support::public_key(alg);
        let header = json!({ "typ": "dpop+jwt", "alg": alg, "jwk": jwk }).to_string();
        let proof = token(&header, &claims().to_string(), |message| sign(alg, message));
        assert_eq!(verify(&proof), Err(DpopRefusal::Algorithm), "{alg}");
    }
    assert_eq!(headed("alg", Value::Null), Err(DpopRefusal::Algorithm));
    assert_eq!(headed("alg", json!(["ES256"])), Err(DpopRefusal::Algorithm));
    let (unsigned, _) = good().rsplit_once('.').map(|(signed, rest)| (format!("{signed}."), rest.len())).unwrap();
    assert_eq!(verify(&unsigned), Err(DpopRefusal::Signature));
}

/// AAP-18-01
#[test]
fn six_the_signature_is_one_of_the_key_in_the_header() {
    let other = SigningKey::generate(None).unwrap();
    let by_another = token(&header().to_string(), &claims().to_string(), |message| es256(&other, message));
    assert_eq!(verify(&by_another), Err(DpopRefusal::Signature));
    let keys = ProofKeys::default();
    verify_with(&good(), &keys).unwrap();
    assert_eq!(verify_with(&by_another, &keys), Err(DpopRefusal::Signature), "though the header was seen before");
    let (signed, _) = by_another.rsplit_once('.').unwrap();
    for length in [0, 1, 63, 65, 72, 128] {
        let short = format!("{signed}.{}", crate::support::b64(vec![1; length]));
        assert_eq!(verify(&short), Err(DpopRefusal::Signature), "{length}");
    }
    for nothing in [[0; 64], [255; 64]] {
        assert_eq!(verify(&format!("{signed}.{}", crate::support::b64(nothing))), Err(DpopRefusal::Signature));
    }
}

/// AAP-18-01, AAP-18.1-03
#[test]
fn seven_a_key_that_is_private_or_symmetric_is_refused() {
    for member in ["d", "p", "q", "dp", "dq", "qi", "oth", "k"] {
        for value in [json!("AQAB"), json!(null), json!([])] {
            let mut header = header();
            header["jwk"][member] = value;
            let proof = raw(&header.to_string(), &claims().to_string());
            assert_eq!(verify(&proof), Err(DpopRefusal::Key(KeyFlaw::Private)), "{member}");
        }
    }
    assert_eq!(headed("jwk", json!({ "kty": "oct", "k": "c2VjcmV0" })), Err(DpopRefusal::Key(KeyFlaw::Private)));
    assert_eq!(headed("jwk", json!({ "kty": "oct" })), Err(DpopRefusal::Key(KeyFlaw::Unsupported)));
}

/// AAP-18-01, AAP-18.3-05
#[test]
fn eight_the_method_is_the_requests_to_the_letter() {
    for method in ["post", "Post", "GET", "PUT", "POST ", " POST", "POST\u{0}", ""] {
        assert_eq!(claiming("htm", method.into()), Err(DpopRefusal::Method), "{method:?}");
    }
}

/// AAP-18-01, AAP-18.3-06, R-22
#[test]
fn nine_the_address_is_the_requests_without_query_and_fragment() {
    let elsewhere = [
        "https://test-service.aap.dev/v1/events/",
        "https://test-service.aap.dev/v1/Events",
        "https://test-service.aap.dev/v1",
        "https://test-service.aap.dev",
        "http://test-service.aap.dev/v1/events",
        "https://test-service.aap.dev:8443/v1/events",
        "https://evil.example/v1/events",
        "https://test-service.aap.dev.evil.example/v1/events",
        "https://me@test-service.aap.dev/v1/events",
        "https://test-service.aap.dev/v1%2Fevents",
        "//test-service.aap.dev/v1/events",
        "/v1/events",
        "",
    ];
    for htu in elsewhere {
        assert_eq!(claiming("htu", htu.into()), Err(DpopRefusal::Address), "{htu}");
    }
    let the_same = [
        "https://test-service.aap.dev/v1/events?page=2",
        "https://test-service.aap.dev/v1/events#top",
        "HTTPS://Test-Service.AAP.dev/v1/events",
        "https://test-service.aap.dev:443/v1/events",
        "https://test-service.aap.dev/v1/./x/../%65vents",
    ];
    for htu in the_same {
        assert!(claiming("htu", htu.into()).is_ok(), "{htu}");
    }
}

/// AAP-18-01: the nonce is returned for its issuer to judge.
#[test]
fn ten_a_nonce_is_handed_out_as_it_was_sent() {
    for odd in [json!(1), json!(["n"]), json!({}), json!(true)] {
        assert!(matches!(claiming("nonce", odd), Err(DpopRefusal::Claims(_))));
    }
    assert_eq!(claiming("nonce", "eyJ7S_zG.eyJH0-Z".into()).unwrap().nonce(), Some("eyJ7S_zG.eyJH0-Z"));
    assert_eq!(claiming("nonce", Value::Null).unwrap().nonce(), None);
}

/// AAP-18-01, AAP-18.3-07
#[test]
fn eleven_a_proof_is_at_most_300_seconds_from_now_on_either_side() {
    let now = NOW.secs();
    assert_eq!(claiming("iat", (now - 301).into()), Err(DpopRefusal::TooOld));
    assert_eq!(claiming("iat", (now + 301).into()), Err(DpopRefusal::FromTheFuture));
    for iat in [now - 300, now, now + 300] {
        assert!(claiming("iat", iat.into()).is_ok(), "{iat}");
    }
    for (far, refusal) in [(0, DpopRefusal::TooOld), (9_007_199_254_740_991_i64, DpopRefusal::FromTheFuture)] {
        assert_eq!(claiming("iat", far.into()), Err(refusal));
    }
    for odd in [json!(now as f64 + 0.5), json!(now.to_string())] {
        assert!(matches!(claiming("iat", odd), Err(DpopRefusal::Claims(_))), "whole seconds only");
    }
}

/// AAP-18-01, AAP-18.3-01
#[test]
fn twelve_the_proof_names_the_access_token_that_it_came_with() {
    assert_eq!(claiming("ath", Value::Null), Err(DpopRefusal::NoToken));
    let others = Digest::of(b"at_of_another").base64url();
    let ours = Digest::of(TOKEN.as_bytes());
    for ath in [others, ours.hex(), format!("{}=", ours.base64url()), TOKEN.to_owned(), String::new()] {
        assert_eq!(claiming("ath", ath.as_str().into()), Err(DpopRefusal::OtherToken), "{ath}");
    }
    let proof = with(claims(), "ath", ours.base64url().into()).to_string();
    assert!(verify(&raw(&header().to_string(), &proof)).is_ok());
}

/// AAP-18-01
#[test]
fn a_proof_that_passes_them_all_is_a_fact() {
    let fact = verify(&good()).unwrap();
    assert_eq!((fact.jti(), fact.nonce()), ("e1j3V_bKic8-LAEB", None));
    assert_eq!(*fact.jkt(), jkt());
    assert_eq!(fact.issued_at().secs(), NOW.secs());
}
