//! Whether a delegation and a receipt still hold. Asked at register and again on every call (C-40).

use crate::{
    records::{Delegation, DelegationState, Receipt},
    refusal::Refusal,
};
use countersign_protocol::time::UnixMillis;

/// Clocks of issuers may be off by this much (C-87). Our own deadlines are exact.
pub const SKEW_S: i64 = 300;

/// Revoked comes first (C-93). The policy's end is ours and exact; the token's own `exp` has the usual skew, and is
/// told as such only where it came first (AAP 16.2).
pub fn delegation_holds(delegation: &Delegation, now: UnixMillis) -> Result<(), Refusal> {
    if let DelegationState::Revoked { reason, .. } = &delegation.state {
        return Err(Refusal::DelegationRevoked(*reason));
    }
    let token_over = now > delegation.token_expires_at.plus_secs(SKEW_S);
    let policy_over = now >= delegation.policy_expires_at;
    match (token_over, policy_over) {
        (true, _) if delegation.token_expires_at < delegation.policy_expires_at => Err(Refusal::DelegationExpired),
        (_, true) => Err(Refusal::PolicyExpired),
        (true, false) => Err(Refusal::DelegationExpired),
        (false, false) => Ok(()),
    }
}

/// The receipt as an execution window (C-83): from `earliest` to the earlier of `latest` and `exp`.
pub fn receipt_holds(receipt: &Receipt, now: UnixMillis) -> Result<(), Refusal> {
    let (earliest, latest) = receipt.window.unwrap_or((receipt.issued_at, receipt.expires_at));
    if now > latest.min(receipt.expires_at).plus_secs(SKEW_S) {
        return Err(Refusal::ConsentExpired);
    }
    if now < earliest.plus_secs(-SKEW_S) {
        return Err(Refusal::ConsentWindowNotOpen);
    }
    Ok(())
}
