//! A cache of DPoP proof headers, parsed once while their key is in use.

use crate::compact::{self, Malformed, REFUSED_IN_HEADER};
use crate::jwk::{self, KeyFlaw, KeyPolicy, VerifyingKey};
use crate::{Algorithm, DpopRefusal};
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ParsedPublicKey, RSA_PSS_2048_8192_SHA256, RsaPublicKeyComponents,
};
use countersign_protocol::{aap::dpop::TYP, hash::Digest};
use quick_cache::sync::Cache;
use serde_json::{Map, Value};
use std::sync::Arc;

/// A key takes one or two kilobytes, so this many take some tens of megabytes at most.
const ENTRIES: usize = 10_000;

/// A header with an RSA key of 4096 bits has about a thousand characters; a longer one is parsed each time.
const MAX_REMEMBERED_BYTES: usize = 1536;

/// Headers that recently came with a valid signature, by their text.
///
/// A client sends the same header with each proof: from the second time on, it is not decoded, parsed or hashed. A key
/// is cached only after a valid signature, so made-up keys evict no real one.
pub struct ProofKeys {
    seen: Cache<Box<str>, Arc<PublicProofKey>>,
    policy: KeyPolicy,
}

impl ProofKeys {
    pub fn new(policy: KeyPolicy) -> Self {
        Self { seen: Cache::new(ENTRIES), policy }
    }

    pub(crate) fn read(&self, header: &str) -> Result<Header, DpopRefusal> {
        if let Some(key) = self.seen.get(header) {
            return Ok(Header { key, is_new: false });
        }
        let members = compact::object(header, "header")?;
        Ok(Header { key: Arc::new(read(&members, self.policy)?), is_new: true })
    }

    /// Only after the signature was verified.
    pub(crate) fn remember(&self, text: &str, header: Header) {
        if header.is_new && text.len() <= MAX_REMEMBERED_BYTES {
            self.seen.insert(text.into(), header.key);
        }
    }
}

impl Default for ProofKeys {
    fn default() -> Self {
        Self::new(KeyPolicy::default())
    }
}

impl std::fmt::Debug for ProofKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProofKeys").field("seen", &self.seen.len()).finish_non_exhaustive()
    }
}

/// A valid header.
pub(crate) struct Header {
    pub(crate) key: Arc<PublicProofKey>,
    is_new: bool,
}

/// The key inside a proof.
pub(crate) struct PublicProofKey {
    key: ParsedPublicKey,
    pub(crate) jkt: Digest,
}

impl PublicProofKey {
    pub(crate) fn verifies(&self, signed: &[u8], signature: &[u8]) -> bool {
        self.key.verify_sig(signed, signature).is_ok()
    }
}

fn read(header: &Map<String, Value>, policy: KeyPolicy) -> Result<PublicProofKey, DpopRefusal> {
    let refused = REFUSED_IN_HEADER.iter().find(|name| **name != "jwk" && header.contains_key(**name));
    if let Some(name) = refused {
        return Err(Malformed::RefusedHeader(name).into());
    }
    if header.get("typ").and_then(Value::as_str) != Some(TYP) {
        return Err(DpopRefusal::Typ);
    }
    let alg = header.get("alg").and_then(Value::as_str).and_then(algorithm).ok_or(DpopRefusal::Algorithm)?;
    let jwk = header.get("jwk").and_then(Value::as_object).ok_or(DpopRefusal::NoJwk)?;
    let key = VerifyingKey::parse(jwk, policy)?;
    if !key.fits(alg) {
        return Err(DpopRefusal::OtherAlgorithm);
    }
    let jkt = Digest::from_base64url(key.thumbprint()).ok_or(KeyFlaw::BadNumbers)?;
    Ok(PublicProofKey { key: parsed(jwk, alg)?, jkt })
}

/// Two of the six that JWTs may have (C-30).
fn algorithm(name: &str) -> Option<Algorithm> {
    Algorithm::parse(name).filter(|alg| matches!(alg, Algorithm::ES256 | Algorithm::PS256))
}

/// The key in the form with the fastest verification.
fn parsed(jwk: &Map<String, Value>, alg: Algorithm) -> Result<ParsedPublicKey, KeyFlaw> {
    let number = |member| jwk::number(jwk, member).map(|(bytes, _)| bytes);
    let key = if alg == Algorithm::PS256 {
        RsaPublicKeyComponents { n: number("n")?, e: number("e")? }.to_parsed_public_key(&RSA_PSS_2048_8192_SHA256)
    } else {
        let point = [&[4], number("x")?.as_slice(), number("y")?.as_slice()].concat();
        ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point)
    };
    key.map_err(|_| KeyFlaw::BadNumbers)
}

#[cfg(test)]
mod tests;
