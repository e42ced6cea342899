//! The remaining rules for JWT claims of a proof.

use super::{METHOD, TOKEN, URL, claiming, claims, header, verify};
use crate::support::{NOW, raw, with};
use countersign_jose::{DpopRefusal, ExpectedProof, MAX_TOKEN_BYTES, Malformed, ProofKeys, verify_dpop};
use countersign_protocol::{facts::VerifiedProof, hash::Digest};
use serde_json::{Value, json};

fn without_token(ath: Value) -> Result<VerifiedProof, DpopRefusal> {
    let proof = raw(&header().to_string(), &with(claims(), "ath", ath).to_string());
    verify_dpop(&proof, &ExpectedProof { method: METHOD, url: URL, token: None }, NOW, &ProofKeys::default())
}

/// AAP-18.3-04
#[test]
fn a_jti_is_some_text_of_at_most_256_characters() {
    for jti in [String::new(), "x".repeat(257)] {
        assert!(matches!(claiming("jti", jti.into()), Err(DpopRefusal::Claims(_))));
    }
    for jti in ["x", "not a UUID", &"x".repeat(256)] {
        assert_eq!(claiming("jti", jti.into()).unwrap().jti(), jti);
    }
}

/// AAP-18.3-02
#[test]
fn where_there_is_no_token_yet_ath_is_not_looked_at() {
    assert!(without_token(Value::Null).is_ok());
    assert!(without_token(Digest::of(b"some other token").base64url().into()).is_ok());
}

#[test]
fn an_oversized_proof_is_not_even_read() {
    let padded = with(claims(), "padding", "x".repeat(MAX_TOKEN_BYTES).into());
    assert_eq!(verify(&raw(&header().to_string(), &padded.to_string())), Err(Malformed::TooLong.into()));
}

#[test]
fn claims_of_tomorrow_are_ignored() {
    assert!(claiming("a claim of tomorrow", json!({})).is_ok());
    assert!(claiming("exp", json!(0)).is_ok(), "a proof has no such claim: its age is judged by iat");
}

///
#[test]
fn the_expected_address_is_normalised_like_the_claimed_one() {
    let proof = raw(&header().to_string(), &claims().to_string());
    let token = Digest::of(TOKEN.as_bytes());
    let asked = |url| {
        let expected = ExpectedProof { method: METHOD, url, token: Some(&token) };
        verify_dpop(&proof, &expected, NOW, &ProofKeys::default()).map(drop)
    };
    for url in ["https://test-service.aap.dev:443/v1/events", "https://test-service.aap.dev/v1/%65vents"] {
        assert_eq!(asked(url), Ok(()), "{url}");
    }
    assert_eq!(asked("https://test-service.aap.dev/v1/events/7"), Err(DpopRefusal::Address));
}

#[test]
fn a_refusal_never_repeats_members_of_the_proof() {
    for claim in ["jti", "htm", "htu", "iat", "ath", "nonce"] {
        for value in [json!("a secret"), json!({ "a secret": 1 })] {
            if let Err(refusal) = claiming(claim, value) {
                assert!(!refusal.to_string().contains("a secret"), "{refusal}");
            }
        }
    }
}
