//! Consent receipts (AAP 12, 19.3).

use super::{Expected, TokenKind, Unsigned, is_expired, is_issued_in_future, signed};
use crate::key_set::KeySet;
use countersign_protocol::aap::claims::{BadClaim, SKEW_SECS};
use countersign_protocol::aap::consent_receipt::{ExecutionWindow, ReceiptClaims, TYP};
use countersign_protocol::{facts::VerifiedReceipt, time::UnixMillis};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReceiptRefusal {
    #[error(transparent)]
    Unsigned(#[from] Unsigned),
    #[error("the token is of another kind than a consent receipt")]
    WrongKind,
    #[error("the claim \"kid\" contradicts the header")]
    KidContradiction,
    #[error(transparent)]
    Claims(#[from] BadClaim),
    #[error("the receipt was issued by another operator")]
    WrongIssuer,
    #[error("the receipt was issued in the future")]
    FromTheFuture,
    #[error("the receipt is for another service")]
    WrongService,
    #[error("the receipt has expired")]
    Expired,
    #[error("the receipt is not valid yet: its \"nbf\" lies in the future")]
    TooEarly,
    #[error("the receipt's execution window is over")]
    WindowOver,
    #[error("the receipt's execution window has not begun")]
    WindowNotOpen,
}

impl ReceiptRefusal {
    /// Whether the key was missing, so that one more fetch may find it (AAP 20.1).
    pub fn is_unknown_kid(&self) -> bool {
        matches!(self, Self::Unsigned(Unsigned::NoKey(_)))
    }

    /// Outside its time on either side (AAP glossary: both are `consent_expired`).
    pub fn is_expired(&self) -> bool {
        matches!(self, Self::Expired | Self::TooEarly | Self::WindowOver | Self::WindowNotOpen)
    }
}

/// Verifies a person's consent. With an open `typ`, the claims that only a receipt has identify it (C-66). Signature
/// and shape first, then audience, then time (C-93).
pub fn verify_receipt(
    jwt: &str,
    keys: &KeySet,
    expected: Expected<'_>,
    now: UnixMillis,
) -> Result<VerifiedReceipt, ReceiptRefusal> {
    let token = signed(jwt, keys)?;
    if token.stated_kind(TYP) == TokenKind::Another {
        return Err(ReceiptRefusal::WrongKind);
    }
    if token.has_wrong_kid() {
        return Err(ReceiptRefusal::KidContradiction);
    }
    let claims = ReceiptClaims::parse(&token.payload)?;
    check(&claims, expected, now)?;
    if token.is_too_early(now)? {
        return Err(ReceiptRefusal::TooEarly);
    }
    let (sha256, said) = (token.sha256(), token.signing_input_sha256());
    #[expect(clippy::disallowed_methods, reason = "here everything about the token has just been checked")]
    let fact = VerifiedReceipt::attest(claims, token.kid, sha256, said);
    Ok(fact)
}

fn check(claims: &ReceiptClaims, expected: Expected<'_>, now: UnixMillis) -> Result<(), ReceiptRefusal> {
    if claims.iss != *expected.operator {
        return Err(ReceiptRefusal::WrongIssuer);
    }
    if is_issued_in_future(claims.iat, now) {
        return Err(ReceiptRefusal::FromTheFuture);
    }
    if claims.aud != expected.service {
        return Err(ReceiptRefusal::WrongService);
    }
    if is_expired(claims.iat, claims.exp, now) {
        return Err(ReceiptRefusal::Expired);
    }
    claims.execution_window.map_or(Ok(()), |window| check_window(window, now))
}

/// Both ends are included, each with clock skew (C-83, C-87).
fn check_window(window: ExecutionWindow, now: UnixMillis) -> Result<(), ReceiptRefusal> {
    if now > window.latest.plus_secs(SKEW_SECS) {
        return Err(ReceiptRefusal::WindowOver);
    }
    if now < window.earliest.plus_secs(-SKEW_SECS) { Err(ReceiptRefusal::WindowNotOpen) } else { Ok(()) }
}
