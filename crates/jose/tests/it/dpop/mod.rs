//! DPoP proofs: possession must be proven for the request at hand (AAP 18, RFC 9449).

mod checks;
mod claims;
mod examples;
mod foreign;
mod header;
mod making;
mod properties;

use super::support::{KEY, NOW, b64, public_key, raw, with};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_jose::{DpopRefusal, ExpectedProof, ProofKeys, verify_dpop};
use countersign_protocol::{facts::VerifiedProof, hash::Digest};
use serde_json::{Value, json};

const METHOD: &str = "POST";
const URL: &str = "https://test-service.aap.dev/v1/events";
const TOKEN: &str = "at_0123456789abcdef";

fn header() -> Value {
    json!({ "typ": "dpop+jwt", "alg": "ES256", "jwk": public_key("ES256") })
}

fn claims() -> Value {
    let ath = b64(Digest::of(TOKEN.as_bytes()).0);
    json!({ "jti": "e1j3V_bKic8-LAEB", "htm": METHOD, "htu": URL, "iat": NOW.secs(), "ath": ath })
}

/// A valid proof with one JWT claim replaced, or removed by null.
fn claiming(claim: &str, value: Value) -> Result<VerifiedProof, DpopRefusal> {
    verify(&raw(&header().to_string(), &with(claims(), claim, value).to_string()))
}

/// A valid proof with one header member replaced, or removed by null.
fn headed(member: &str, value: Value) -> Result<VerifiedProof, DpopRefusal> {
    verify(&raw(&with(header(), member, value).to_string(), &claims().to_string()))
}

fn good() -> String {
    raw(&header().to_string(), &claims().to_string())
}

/// Verifies for the request in [`claims`], with an empty key cache.
fn verify(proof: &str) -> Result<VerifiedProof, DpopRefusal> {
    verify_with(proof, &ProofKeys::default())
}

fn verify_with(proof: &str, keys: &ProofKeys) -> Result<VerifiedProof, DpopRefusal> {
    let token = Digest::of(TOKEN.as_bytes());
    verify_dpop(proof, &ExpectedProof { method: METHOD, url: URL, token: Some(&token) }, NOW, keys)
}

fn jkt() -> Digest {
    Digest::from_base64url(&KEY.thumbprint()).unwrap()
}

/// The header (0) or the payload (1).
fn part(proof: &str, place: usize) -> Value {
    let part = proof.split('.').nth(place).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}
