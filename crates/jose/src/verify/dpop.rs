//! DPoP proofs (AAP 18, RFC 9449 4.3): the caller holds a key and signed exactly this request.

use super::htu;
use crate::compact::{self, Malformed, Parts};
use crate::{KeyFlaw, ProofKeys};
use countersign_protocol::aap::claims::{BadClaim, SKEW_SECS};
use countersign_protocol::aap::dpop::ProofClaims;
use countersign_protocol::{facts::VerifiedProof, hash::Digest, time::UnixMillis};

/// The request that a proof must be for.
#[derive(Clone, Copy, Debug)]
pub struct ExpectedProof<'a> {
    /// As sent: methods are case-sensitive.
    pub method: &'a str,
    /// The configured public origin and the raw path, without query; never `Host` or `X-Forwarded-*`.
    pub url: &'a str,
    /// The access token's SHA-256. None before there is a token (register): then `ath` is ignored (AAP 18.3).
    pub token: Option<&'a Digest>,
}

/// Why a proof is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DpopRefusal {
    #[error("not a DPoP proof: {0}")]
    Malformed(#[from] Malformed),
    #[error("the proof's \"typ\" must be dpop+jwt")]
    Typ,
    #[error("the proof must be signed with ES256 or PS256")]
    Algorithm,
    #[error("the proof's header must have its public key as \"jwk\"")]
    NoJwk,
    #[error("the proof's key cannot be used: {0}")]
    Key(#[from] KeyFlaw),
    #[error("the proof's algorithm does not fit its key")]
    OtherAlgorithm,
    #[error("the signature is not one of the proof's own key")]
    Signature,
    #[error("in the proof, {0}")]
    Claims(#[from] BadClaim),
    #[error("the proof is for another method: \"htm\" must be the request's")]
    Method,
    #[error("the proof is for another address: \"htu\" must be the request's, without query and fragment")]
    Address,
    #[error("the proof is older than 300 seconds")]
    TooOld,
    #[error("the proof was made more than 300 seconds in the future")]
    FromTheFuture,
    #[error("the proof does not name the access token: \"ath\" is missing")]
    NoToken,
    #[error("the proof is for another access token: \"ath\" must be this one's hash")]
    OtherToken,
}

/// Verifies that the sender of this request holds the key in the proof.
///
/// Everything cheap is checked before the signature, so a stale or misdirected proof costs next to nothing. Left to the
/// caller: the token's binding to that key, replay, and the nonce.
pub fn verify_dpop(
    proof: &str,
    expected: &ExpectedProof<'_>,
    now: UnixMillis,
    keys: &ProofKeys,
) -> Result<VerifiedProof, DpopRefusal> {
    let parts = Parts::of(proof)?;
    let payload = compact::object(parts.payload, "payload")?;
    let signature = compact::decode(parts.signature, "signature")?;
    let header = keys.read(parts.header)?;
    let claims = ProofClaims::parse(&payload)?;
    check(&claims, expected, now)?;
    if !header.key.verifies(parts.signed.as_bytes(), &signature) {
        return Err(DpopRefusal::Signature);
    }
    let jkt = header.key.jkt;
    keys.remember(parts.header, header);
    let (jti, nonce) = (claims.jti.to_owned(), claims.nonce.map(str::to_owned));
    #[expect(clippy::disallowed_methods, reason = "here everything about the proof has just been checked")]
    let fact = VerifiedProof::attest(jkt, jti, UnixMillis::from_secs(claims.iat), nonce);
    Ok(fact)
}

fn check(claims: &ProofClaims<'_>, expected: &ExpectedProof<'_>, now: UnixMillis) -> Result<(), DpopRefusal> {
    if claims.htm != expected.method {
        return Err(DpopRefusal::Method);
    }
    if !htu::is_same(claims.htu, expected.url) {
        return Err(DpopRefusal::Address);
    }
    check_age(claims.iat, now)?;
    expected.token.map_or(Ok(()), |token| check_token(claims.ath, token))
}

/// In whole seconds, both ends included (C-31).
fn check_age(iat: i64, now: UnixMillis) -> Result<(), DpopRefusal> {
    let age = now.secs().saturating_sub(iat);
    if age > SKEW_SECS {
        return Err(DpopRefusal::TooOld);
    }
    if age < -SKEW_SECS { Err(DpopRefusal::FromTheFuture) } else { Ok(()) }
}

fn check_token(ath: Option<&str>, token: &Digest) -> Result<(), DpopRefusal> {
    let ath = ath.ok_or(DpopRefusal::NoToken)?;
    if ath == token.base64url() { Ok(()) } else { Err(DpopRefusal::OtherToken) }
}
