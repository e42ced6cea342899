//! A consent receipt on the operator's side.

use crate::secret::ClientSecret;
use countersign_protocol::aap::consent_receipt::ReceiptClaims;

/// A person's signed consent. Only [`super::Proposal::approve`] creates one.
#[derive(Clone, Debug)]
pub struct Receipt {
    pub(crate) jwt: ClientSecret,
    pub(super) claims: ReceiptClaims,
}

impl Receipt {
    /// For the service that it is addressed to.
    pub fn jwt(&self) -> &str {
        self.jwt.reveal()
    }

    /// All claims without the intent, which stays with the operator (AAP 12.4).
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
