use super::{ENTRIES, MAX_REMEMBERED_BYTES};
use crate::{ExpectedProof, ProofKey, ProofKeys, SigningKey, verify_dpop};
use countersign_protocol::time::UnixMillis;
use serde_json::json;

const NOW: UnixMillis = UnixMillis::from_secs(1_750_000_000);
const REQUEST: ExpectedProof<'static> = ExpectedProof { method: "GET", url: "https://api.example/", token: None };

fn proof(key: &ProofKey, jti: &str) -> String {
    key.proof(REQUEST.method, REQUEST.url, None, None, jti, NOW).unwrap()
}

#[test]
fn a_header_is_remembered_once_and_only_after_a_good_signature() {
    let (keys, key) = (ProofKeys::default(), ProofKey::generate().unwrap());
    let good = proof(&key, "one");
    let (signed, _) = good.rsplit_once('.').unwrap();
    verify_dpop(&format!("{signed}.AAAA"), &REQUEST, NOW, &keys).unwrap_err();
    assert_eq!(keys.seen.len(), 0);
    for jti in ["one", "two"] {
        verify_dpop(&proof(&key, jti), &REQUEST, NOW, &keys).unwrap();
        assert_eq!(keys.seen.len(), 1);
    }
    verify_dpop(&proof(&ProofKey::generate().unwrap(), "one"), &REQUEST, NOW, &keys).unwrap();
    assert_eq!(keys.seen.len(), 2);
}

#[test]
fn a_header_that_is_padded_is_read_and_not_remembered() {
    let (keys, key) = (ProofKeys::default(), SigningKey::generate(None).unwrap());
    let padding = "x".repeat(MAX_REMEMBERED_BYTES);
    let header = json!({ "typ": "dpop+jwt", "alg": "ES256", "jwk": key.public_jwk(), "padding": padding });
    let claims = json!({ "jti": "one", "htm": "GET", "htu": REQUEST.url, "iat": NOW.secs() });
    let proof = key.sign_with_header(&header, &claims).unwrap();
    verify_dpop(&proof, &REQUEST, NOW, &keys).unwrap();
    assert_eq!(keys.seen.len(), 0);
}

#[test]
fn there_is_a_limit_to_remembered_entries() {
    assert_eq!(ProofKeys::default().seen.capacity(), ENTRIES as u64);
}
