//! Verified facts: values that exist only because a signature was checked.
//!
//! `countersign-jose` is the only crate that may build one (`clippy.toml` bans the constructors elsewhere),
//! so a function that takes a fact cannot be handed something that nobody verified.

use crate::aap::claims::SKEW_SECS;
use crate::aap::{consent_receipt::ReceiptClaims, delegation_token::DelegationClaims};
use crate::{domain::Domain, hash::Digest, time::UnixMillis};

/// An operator's agent is calling, and this is the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedOperator {
    domain: Domain,
    kid: String,
    expires_at: UnixMillis,
    sha256: Digest,
}

impl VerifiedOperator {
    /// Only for `countersign-jose`, after the signature and every claim were checked.
    pub fn attest(domain: Domain, kid: String, expires_at: UnixMillis, sha256: Digest) -> Self {
        Self { domain, kid, expires_at, sha256 }
    }

    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// Which of the operator's keys vouched (C-88).
    pub fn kid(&self) -> &str {
        &self.kid
    }

    /// The token's `exp`, without skew.
    pub fn expires_at(&self) -> UnixMillis {
        self.expires_at
    }

    /// Over the compact form: under which the verdict may be remembered.
    pub fn sha256(&self) -> &Digest {
        &self.sha256
    }
}

/// An operator says that a person agreed to this task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedReceipt {
    claims: ReceiptClaims,
    kid: String,
    sha256: Digest,
    said: Digest,
}

impl VerifiedReceipt {
    /// Only for `countersign-jose`, after the signature and every claim were checked.
    pub fn attest(claims: ReceiptClaims, kid: String, sha256: Digest, said: Digest) -> Self {
        Self { claims, kid, sha256, said }
    }

    pub fn claims(&self) -> &ReceiptClaims {
        &self.claims
    }

    pub fn kid(&self) -> &str {
        &self.kid
    }

    pub fn issued_at(&self) -> UnixMillis {
        UnixMillis::from_secs(self.claims.iat)
    }

    /// The receipt's `exp`, without skew.
    pub fn expires_at(&self) -> UnixMillis {
        UnixMillis::from_secs(self.claims.exp)
    }

    /// Over header and payload: what a receipt is known by once it was taken back (C-41). The signature is left out,
    /// because anybody can write a valid ECDSA signature in a second way.
    pub fn said_sha256(&self) -> &Digest {
        &self.said
    }

    /// Over the compact form: what a repeated receipt must equal (C-82).
    pub fn sha256(&self) -> &Digest {
        &self.sha256
    }
}

/// This service once issued this delegation token. Whether the delegation still stands is another question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedDelegation {
    claims: DelegationClaims,
    kid: String,
    sha256: Digest,
}

impl VerifiedDelegation {
    /// Only for `countersign-jose`, after the signature and every claim but `exp` were checked.
    pub fn attest(claims: DelegationClaims, kid: String, sha256: Digest) -> Self {
        Self { claims, kid, sha256 }
    }

    pub fn claims(&self) -> &DelegationClaims {
        &self.claims
    }

    pub fn kid(&self) -> &str {
        &self.kid
    }

    pub fn sha256(&self) -> &Digest {
        &self.sha256
    }

    /// Left to the one who decides, because "not found" and "revoked" are answered before "expired" (C-93).
    pub fn is_expired(&self, now: UnixMillis) -> bool {
        let end = UnixMillis::from_secs(self.claims.exp).plus_secs(SKEW_SECS);
        self.claims.exp <= self.claims.iat || now > end
    }
}

/// The caller holds the private half of this key, and signed for exactly the request at hand (RFC 9449 4.3).
///
/// Whether the key is the one that the token was bound to, whether the proof is new and whether its nonce is one of
/// ours are three other questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedProof {
    jkt: Digest,
    jti: String,
    issued_at: UnixMillis,
    nonce: Option<String>,
}

impl VerifiedProof {
    /// Only for `countersign-jose`, after the signature and every claim but `nonce` were checked.
    pub fn attest(jkt: Digest, jti: String, issued_at: UnixMillis, nonce: Option<String>) -> Self {
        Self { jkt, jti, issued_at, nonce }
    }

    /// The key's thumbprint of RFC 7638: what a token is bound to.
    pub fn jkt(&self) -> &Digest {
        &self.jkt
    }

    pub fn jti(&self) -> &str {
        &self.jti
    }

    pub fn issued_at(&self) -> UnixMillis {
        self.issued_at
    }

    /// As the caller wrote it; not yet judged.
    pub fn nonce(&self) -> Option<&str> {
        self.nonce.as_deref()
    }
}
