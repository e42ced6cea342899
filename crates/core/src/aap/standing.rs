//! Whether a delegation and a receipt still hold. Asked at register and again on every call (C-40).

use crate::{
    records::{Delegation, DelegationState, Receipt, RevokeReason},
    refusal::Refusal,
};
use countersign_protocol::time::UnixMillis;

/// Clocks of issuers may be off by this much (C-87). Our own deadlines are exact.
pub const SKEW_S: i64 = 300;

/// Suspended comes first, then revoked (C-93). The policy's end is ours and exact; the token's own `exp` has the usual
/// skew, and is told as such only where it came first (AAP 16.2).
pub fn delegation_holds(delegation: &Delegation, now: UnixMillis) -> Result<(), Refusal> {
    let recorded = match delegation.state {
        DelegationState::Suspended { .. } => return Err(Refusal::DelegationSuspended),
        DelegationState::Revoked { reason, .. } => return Err(Refusal::DelegationRevoked(reason)),
        // The end of the time is told by the clock, so that its record changes nothing about the answer.
        DelegationState::AutoRevoked { reason: RevokeReason::PolicyExpired, .. } => true,
        DelegationState::AutoRevoked { reason, .. } => return Err(Refusal::AutoRevoked(reason)),
        DelegationState::Active => false,
    };
    let token_over = now > delegation.token_expires_at.plus_secs(SKEW_S);
    let policy_over = recorded || now >= delegation.policy_expires_at;
    match (token_over, policy_over) {
        (true, _) if delegation.token_expires_at < delegation.policy_expires_at => Err(Refusal::DelegationExpired),
        (_, true) => Err(Refusal::AutoRevoked(RevokeReason::PolicyExpired)),
        (true, false) => Err(Refusal::DelegationExpired),
        (false, false) => Ok(()),
    }
}

/// The last moment at which a receipt counts (C-83).
pub fn receipt_ends_at(receipt: &Receipt) -> UnixMillis {
    let latest = receipt.window.map_or(receipt.expires_at, |(_, latest)| latest);
    latest.min(receipt.expires_at).plus_secs(SKEW_S)
}

/// The receipt as an execution window (C-83): from `earliest` to the earlier of `latest` and `exp`.
pub fn receipt_holds(receipt: &Receipt, now: UnixMillis) -> Result<(), Refusal> {
    let earliest = receipt.window.map_or(receipt.issued_at, |(earliest, _)| earliest);
    if now > receipt_ends_at(receipt) {
        return Err(Refusal::ConsentExpired);
    }
    if now < earliest.plus_secs(-SKEW_S) {
        return Err(Refusal::ConsentWindowNotOpen);
    }
    Ok(())
}
