//! Delegation tokens (AAP 5.2, 19.4): issued and verified by this service.

use super::{TokenKind, Unsigned, is_issued_in_future, signed};
use crate::key_set::KeySet;
use countersign_protocol::aap::claims::BadClaim;
use countersign_protocol::aap::delegation_token::{DelegationClaims, TYP};
use countersign_protocol::{facts::VerifiedDelegation, time::UnixMillis};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DelegationRefusal {
    #[error(transparent)]
    Unsigned(#[from] Unsigned),
    #[error("the token is of another kind than a delegation token")]
    WrongKind,
    #[error(transparent)]
    Claims(#[from] BadClaim),
    #[error("the token was not issued under a name of this service")]
    WrongIssuer,
    #[error("the token was issued in the future")]
    FromTheFuture,
}

/// Verifies that we issued it. Expiry is left to [`VerifiedDelegation::is_expired`]: unknown and revoked delegations
/// are reported first (C-93).
pub fn verify_delegation(
    jwt: &str,
    own_keys: &KeySet,
    own_origins: &[&str],
    now: UnixMillis,
) -> Result<VerifiedDelegation, DelegationRefusal> {
    let token = signed(jwt, own_keys)?;
    if token.stated_kind(TYP) == TokenKind::Another {
        return Err(DelegationRefusal::WrongKind);
    }
    let claims = DelegationClaims::parse(&token.payload)?;
    if !own_origins.contains(&claims.iss.as_str()) {
        return Err(DelegationRefusal::WrongIssuer);
    }
    if is_issued_in_future(claims.iat, now) {
        return Err(DelegationRefusal::FromTheFuture);
    }
    let sha256 = token.sha256();
    #[expect(clippy::disallowed_methods, reason = "here everything about the token has just been checked")]
    let fact = VerifiedDelegation::attest(claims, token.kid, sha256);
    Ok(fact)
}
