//! Confirms for people: decide, list standing approvals, and revoke them.

use super::{Mplp, MplpError};
use countersign_protocol::mplp::{AllowanceShown, Confirm, DecisionRequest, ListPage, MplpId, ReasonGiven};
use serde::de::IgnoredAny;

/// A Confirm is a view of a decision: the same digits in MPLP's spelling (M-02).
pub fn confirm_id(decision_id: &str) -> Option<MplpId> {
    MplpId::from_simple(decision_id.strip_prefix("dec_")?)
}

/// The decision behind a Confirm.
pub fn decision_id(confirm_id: &MplpId) -> String {
    format!("dec_{}", confirm_id.simple())
}

impl Mplp {
    pub async fn confirm(&self, confirm: &MplpId) -> Result<Confirm, MplpError> {
        self.get(&format!("/confirms/{confirm}")).await
    }

    /// A person's decision. The first one counts, and a later one is refused with 409.
    pub async fn decide(&self, confirm: &MplpId, decision: &DecisionRequest) -> Result<Confirm, MplpError> {
        self.post(&format!("/confirms/{confirm}/decisions"), decision).await
    }

    /// The standing approvals that this person may revoke.
    pub async fn allowances(&self) -> Result<Vec<AllowanceShown>, MplpError> {
        let listed: ListPage<AllowanceShown> = self.get("/allowances").await?;
        Ok(listed.items)
    }

    /// Revokes the rest of a standing approval.
    pub async fn revoke(&self, allowance_id: &str, reason: Option<&str>) -> Result<(), MplpError> {
        // Ids are `alw_` and hex digits; any other input stays within the path.
        let id: String = allowance_id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        let why = ReasonGiven { reason: reason.map(str::to_owned) };
        let _over: IgnoredAny = self.post(&format!("/allowances/{id}/revoke"), &why).await?;
        Ok(())
    }
}
