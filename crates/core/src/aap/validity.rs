//! Validity of delegation and receipt. Checked at registration and on every call (C-40).

use crate::{
    records::{Delegation, DelegationState, Receipt, RevokeReason},
    refusal::Refusal,
};
use countersign_protocol::time::UnixMillis;

/// Tolerated clock skew of issuers (C-87). Our own deadlines are exact.
pub const SKEW_S: i64 = 300;

/// Suspension is checked first, then revocation (C-93). The policy's end is ours and exact; the token's own `exp` has the
/// usual skew, and is the reported reason only if it came first (AAP 16.2).
pub fn check_delegation(delegation: &Delegation, now: UnixMillis) -> Result<(), Refusal> {
    let recorded = match delegation.state {
        DelegationState::Suspended { why, .. } => return Err(Refusal::DelegationSuspended(why)),
        DelegationState::Revoked { reason, .. } => return Err(Refusal::DelegationRevoked(reason)),
        // The clock decides the end, so recording it does not change the response.
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
        // The engine judges it first, and postpones the check if there were requests.
        (false, false) if delegation.needs_idle_check(now) => Err(Refusal::AutoRevoked(RevokeReason::Inactivity)),
        (false, false) => Ok(()),
    }
}

/// End of a receipt's validity (C-83).
pub fn receipt_ends_at(receipt: &Receipt) -> UnixMillis {
    let latest = receipt.window.map_or(receipt.expires_at, |(_, latest)| latest);
    latest.min(receipt.expires_at).plus_secs(SKEW_S)
}

/// The receipt's execution window (C-83): from `earliest` to the earlier of `latest` and `exp`.
pub fn check_receipt(receipt: &Receipt, now: UnixMillis) -> Result<(), Refusal> {
    let earliest = receipt.window.map_or(receipt.issued_at, |(earliest, _)| earliest);
    if now > receipt_ends_at(receipt) {
        return Err(Refusal::ConsentExpired);
    }
    if now < earliest.plus_secs(-SKEW_S) {
        return Err(Refusal::ConsentWindowNotOpen);
    }
    Ok(())
}
