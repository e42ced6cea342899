//! Operator JWTs (AAP 4.1, 23.2).

use super::{Expected, TokenKind, Unsigned, is_expired, is_issued_in_future, signed};
use crate::key_set::KeySet;
use countersign_protocol::aap::claims::{BadClaim, SKEW_SECS, has_any};
use countersign_protocol::aap::operator_jwt::{FOREIGN_CLAIMS, MAX_LIFE_SECS, OperatorClaims, TYP};
use countersign_protocol::{facts::VerifiedOperator, time::UnixMillis};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OperatorRefusal {
    #[error(transparent)]
    Unsigned(#[from] Unsigned),
    #[error("the token is of another kind than an operator JWT")]
    WrongKind,
    #[error("the claim \"kid\" contradicts the header")]
    KidContradiction,
    #[error(transparent)]
    Claims(#[from] BadClaim),
    #[error("the token was issued by another operator")]
    WrongIssuer,
    #[error("the token has expired")]
    Expired,
    #[error("the token was issued in the future")]
    FromTheFuture,
    #[error("the token is not valid yet: its \"nbf\" lies in the future")]
    TooEarly,
    #[error("the token lives longer than an hour")]
    TooLongLived,
    #[error("the token is for another service")]
    WrongAudience,
}

impl OperatorRefusal {
    /// Whether the key was missing, so that one more fetch may find it (AAP 20.1).
    pub fn is_unknown_kid(&self) -> bool {
        matches!(self, Self::Unsigned(Unsigned::NoKey(_)))
    }
}

/// Verifies the calling operator. The order of checks decides between several possible refusals (C-93).
pub fn verify_operator(
    jwt: &str,
    keys: &KeySet,
    expected: Expected<'_>,
    now: UnixMillis,
) -> Result<VerifiedOperator, OperatorRefusal> {
    let token = signed(jwt, keys)?;
    let of_this_kind = match token.stated_kind(TYP) {
        TokenKind::Stated => true,
        TokenKind::Open => !has_any(&token.payload, FOREIGN_CLAIMS),
        TokenKind::Another => false,
    };
    if !of_this_kind {
        return Err(OperatorRefusal::WrongKind);
    }
    if token.has_wrong_kid() {
        return Err(OperatorRefusal::KidContradiction);
    }
    let claims = OperatorClaims::parse(&token.payload)?;
    check(&claims, expected, now)?;
    if token.is_too_early(now)? {
        return Err(OperatorRefusal::TooEarly);
    }
    let expires_at = UnixMillis::from_secs(claims.exp);
    let sha256 = token.sha256();
    #[expect(clippy::disallowed_methods, reason = "here everything about the token has just been checked")]
    let fact = VerifiedOperator::attest(claims.iss, token.kid, expires_at, sha256);
    Ok(fact)
}

fn check(claims: &OperatorClaims, expected: Expected<'_>, now: UnixMillis) -> Result<(), OperatorRefusal> {
    if is_expired(claims.iat, claims.exp, now) {
        return Err(OperatorRefusal::Expired);
    }
    if is_issued_in_future(claims.iat, now) {
        return Err(OperatorRefusal::FromTheFuture);
    }
    if claims.exp - claims.iat > MAX_LIFE_SECS + SKEW_SECS {
        return Err(OperatorRefusal::TooLongLived);
    }
    if claims.aud != expected.service {
        return Err(OperatorRefusal::WrongAudience);
    }
    if claims.iss == *expected.operator { Ok(()) } else { Err(OperatorRefusal::WrongIssuer) }
}
