//! Delegation tokens (AAP 5.2, 19.4): issued and verified by this service.

use super::{TokenKind, Unsigned, is_issued_in_future, signed};
use crate::key_set::KeySet;
use countersign_protocol::aap::{
    claims::BadClaim,
    delegation_token::{DelegationClaims, TYP},
    service_account::{ServiceAccountClaims, is_service_account},
};
use countersign_protocol::{
    facts::{VerifiedDelegation, VerifiedGrant, VerifiedServiceAccount},
    time::UnixMillis,
};

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
    match verify_grant(jwt, own_keys, own_origins, now)? {
        VerifiedGrant::User(fact) => Ok(fact),
        VerifiedGrant::ServiceAccount(_) => Err(DelegationRefusal::WrongKind),
    }
}

/// The same for a token of either identity mode (AAP 19.4, 19.5). Its claims say which one it is.
pub fn verify_grant(
    jwt: &str,
    own_keys: &KeySet,
    own_origins: &[&str],
    now: UnixMillis,
) -> Result<VerifiedGrant, DelegationRefusal> {
    let token = signed(jwt, own_keys)?;
    if token.stated_kind(TYP) == TokenKind::Another {
        return Err(DelegationRefusal::WrongKind);
    }
    if is_service_account(&token.payload) {
        let claims = ServiceAccountClaims::parse(&token.payload)?;
        check_issue(&claims.iss, claims.iat, own_origins, now)?;
        #[expect(clippy::disallowed_methods, reason = "here everything about the token has just been checked")]
        let fact = VerifiedServiceAccount::attest(claims);
        return Ok(VerifiedGrant::ServiceAccount(fact));
    }
    let claims = DelegationClaims::parse(&token.payload)?;
    check_issue(&claims.iss, claims.iat, own_origins, now)?;
    let sha256 = token.sha256();
    #[expect(clippy::disallowed_methods, reason = "here everything about the token has just been checked")]
    let fact = VerifiedDelegation::attest(claims, token.kid, sha256);
    Ok(VerifiedGrant::User(fact))
}

fn check_issue(iss: &str, iat: i64, own_origins: &[&str], now: UnixMillis) -> Result<(), DelegationRefusal> {
    if !own_origins.contains(&iss) {
        return Err(DelegationRefusal::WrongIssuer);
    }
    if is_issued_in_future(iat, now) { Err(DelegationRefusal::FromTheFuture) } else { Ok(()) }
}
