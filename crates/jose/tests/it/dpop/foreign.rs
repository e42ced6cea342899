//! Interoperability with two other libraries, in both directions.

use super::{METHOD, TOKEN, URL, claims, part, verify};
use crate::support::{NOW, with};
use countersign_jose::{DpopRefusal, ProofKey};
use countersign_protocol::hash::Digest;
use judge::Judge;
use serde_json::{Value, json};

#[allow(dead_code, reason = "the server's tests use the rest")]
#[path = "../../../../server/tests/it/foreign/judge.rs"]
mod judge;

/// AAP-18-01, AAP-18.1-03
#[test]
fn our_proofs_are_good_under_the_key_in_their_header_for_other_libraries_too() {
    let key = ProofKey::generate().unwrap();
    let proof = key.proof(METHOD, URL, Some(TOKEN), Some("n-1"), "one", NOW).unwrap();
    let (jwk, said) = (part(&proof, 0)["jwk"].clone(), part(&proof, 1));
    let other = part(&ProofKey::generate().unwrap().proof(METHOD, URL, None, None, "one", NOW).unwrap(), 0);
    let expected = json!({ "typ": "dpop+jwt", "now": NOW.secs() });
    for mut judge in Judge::all() {
        let refused = judge.verify(&json!({ "keys": [other["jwk"]] }), &proof, expected.clone());
        assert!(refused.get("refused").is_some(), "{}: {refused}", judge.name);
        let verified = judge.verify(&json!({ "keys": [jwk] }), &proof, expected.clone());
        assert_eq!(verified["claims"], said, "{}: {verified}", judge.name);
        assert_eq!(judge.thumbprint(&jwk), json!(key.jkt().base64url()), "{}", judge.name);
    }
}

/// AAP-18-01, AAP-18.3-03
#[test]
fn proofs_of_other_libraries_are_good_with_two_algorithms_and_with_no_third() {
    for mut judge in Judge::all() {
        for alg in ["RS256", "ES384"] {
            assert_eq!(verify(&signed(&mut judge, alg).0), Err(DpopRefusal::Algorithm), "{} {alg}", judge.name);
        }
        for alg in ["ES256", "PS256"] {
            let (proof, jwk) = signed(&mut judge, alg);
            let fact = verify(&proof).unwrap();
            let thumbprint = judge.thumbprint(&jwk);
            assert_eq!(Digest::from_base64url(thumbprint.as_str().unwrap()), Some(*fact.jkt()), "{}", judge.name);
        }
    }
}

/// A proof made by the other library, and its public key.
fn signed(judge: &mut Judge, alg: &str) -> (String, Value) {
    let (public, private) = judge.keys(alg, "any");
    let header = json!({ "typ": "dpop+jwt", "alg": alg, "jwk": public });
    (judge.sign(&private, &header, &with(claims(), "nonce", "n-1".into())), public)
}
