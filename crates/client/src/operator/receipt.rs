//! A consent receipt in an operator's hands.

use crate::secret::Secret;
use countersign_protocol::aap::consent_receipt::ReceiptClaims;

/// What a person agreed to, signed. There is no way to one but [`super::Proposal::approve`].
#[derive(Clone, Debug)]
pub struct Receipt {
    pub(crate) jwt: Secret,
    pub(super) claims: ReceiptClaims,
}

impl Receipt {
    /// For the service that it was written for.
    pub fn jwt(&self) -> &str {
        self.jwt.reveal()
    }

    /// Everything that it says, without an intent: that stays with the operator (AAP 12.4).
    pub fn claims(&self) -> &ReceiptClaims {
        &self.claims
    }

    pub fn session_id(&self) -> &str {
        &self.claims.session_id
    }

    pub fn scopes(&self) -> &[String] {
        &self.claims.scopes
    }
}
