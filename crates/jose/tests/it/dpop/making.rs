//! Creating proofs.

use super::{TOKEN, URL, part};
use crate::support::NOW;
use countersign_jose::{BadSigningKey, DpopRefusal, ExpectedProof, ProofKey, ProofKeys, SigningKey, verify_dpop};
use countersign_protocol::{hash::Digest, time::UnixMillis};
use serde_json::json;

#[test]
fn an_invalid_key_makes_no_proofs() {
    assert_eq!(ProofKey::from_pkcs8(b"no key").unwrap_err(), BadSigningKey);
}

/// AAP-18.3-01, AAP-18.3-02, AAP-18.3-03
#[test]
fn our_proofs_have_the_required_members_and_nothing_more() {
    let key = ProofKey::generate().unwrap();
    let at = UnixMillis(NOW.0 + 999);
    let bare = key.proof("POST", URL, None, None, "one", at).unwrap();
    assert_eq!(part(&bare, 1), json!({ "jti": "one", "htm": "POST", "htu": URL, "iat": NOW.secs() }));
    let header = part(&bare, 0);
    assert_eq!((&header["typ"], &header["alg"]), (&json!("dpop+jwt"), &json!("ES256")));
    assert_eq!(header.as_object().unwrap().len(), 3);
    assert_eq!(header["jwk"].as_object().unwrap().keys().collect::<Vec<_>>(), ["crv", "kty", "x", "y"]);
    let full = key.proof("GET", &format!("{URL}?page=2#top"), Some(TOKEN), Some("n-1"), "two", at).unwrap();
    let ath = Digest::of(TOKEN.as_bytes()).base64url();
    assert_eq!(
        part(&full, 1),
        json!({ "jti": "two", "htm": "GET", "htu": URL, "iat": NOW.secs(), "ath": ath, "nonce": "n-1" })
    );
}

/// AAP-18.3-01
#[test]
fn our_proofs_are_accepted_for_their_own_request_and_token_only() {
    let (key, keys) = (ProofKey::generate().unwrap(), ProofKeys::default());
    let (token, other) = (Digest::of(TOKEN.as_bytes()), Digest::of(b"another"));
    let proof = key.proof("GET", URL, Some(TOKEN), Some("n-1"), "two", NOW).unwrap();
    let verify = |method, token| {
        let expected = ExpectedProof { method, url: URL, token };
        verify_dpop(&proof, &expected, NOW, &keys)
    };
    assert_eq!(verify("POST", Some(&token)), Err(DpopRefusal::Method));
    assert_eq!(verify("GET", Some(&other)), Err(DpopRefusal::OtherToken));
    let fact = verify("GET", Some(&token)).unwrap();
    assert_eq!((fact.jkt(), fact.jti(), fact.nonce()), (key.jkt(), "two", Some("n-1")));
}

#[test]
fn a_key_that_was_kept_is_the_same_key_and_a_new_one_is_another() {
    let kept = SigningKey::generate(None).unwrap();
    let key = ProofKey::from_pkcs8(&kept.to_pkcs8()).unwrap();
    assert_eq!(key.jkt().base64url(), kept.thumbprint());
    assert_ne!(key.jkt(), ProofKey::generate().unwrap().jkt());
}

#[test]
fn a_key_that_is_printed_shows_its_thumbprint_only() {
    let key = ProofKey::generate().unwrap();
    assert_eq!(format!("{key:?}"), format!("ProofKey {{ jkt: {:?}, .. }}", key.jkt().base64url()));
}
