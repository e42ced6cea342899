//! Verified facts: values that exist only after a signature check.
//!
//! Only `countersign-jose` may construct one (`clippy.toml` bans the constructors elsewhere), so a function that takes
//! a fact never receives unverified data.

use crate::aap::claims::SKEW_SECS;
use crate::aap::{
    consent_receipt::ReceiptClaims, delegation_token::DelegationClaims, service_account::ServiceAccountClaims,
};
use crate::{domain::Domain, hash::Digest, time::UnixMillis};

/// The verified operator of the calling agent.
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

    /// The operator's key that signed (C-88).
    pub fn kid(&self) -> &str {
        &self.kid
    }

    /// The token's `exp`, without skew.
    pub fn expires_at(&self) -> UnixMillis {
        self.expires_at
    }

    /// Over the compact form: the cache key of the verdict.
    pub fn sha256(&self) -> &Digest {
        &self.sha256
    }
}

/// An operator's verified statement that a person consented to this task.
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

    /// Over header and payload: identifies a withdrawn receipt (C-41). The signature is left out, because anybody can
    /// write a valid ECDSA signature in a second way.
    pub fn signing_input_sha256(&self) -> &Digest {
        &self.said
    }

    /// Over the compact form: a repeated receipt must equal this (C-82).
    pub fn sha256(&self) -> &Digest {
        &self.sha256
    }
}

/// A delegation token that this service issued. Whether the delegation is still active is checked elsewhere.
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

    /// Checked by the caller, because "not found" and "revoked" are reported before "expired" (C-93).
    pub fn is_expired(&self, now: UnixMillis) -> bool {
        let end = UnixMillis::from_secs(self.claims.exp).plus_secs(SKEW_SECS);
        self.claims.exp <= self.claims.iat || now > end
    }
}

/// A service account's token that this service issued. Whether its grant is still active is checked elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedServiceAccount {
    claims: ServiceAccountClaims,
}

impl VerifiedServiceAccount {
    /// Only for `countersign-jose`, after the signature and every claim but `exp` were checked.
    pub fn attest(claims: ServiceAccountClaims) -> Self {
        Self { claims }
    }

    pub fn claims(&self) -> &ServiceAccountClaims {
        &self.claims
    }
}

/// A delegation token of either identity mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VerifiedGrant {
    User(VerifiedDelegation),
    ServiceAccount(VerifiedServiceAccount),
}

impl VerifiedGrant {
    pub fn expires_at(&self) -> UnixMillis {
        UnixMillis::from_secs(match self {
            Self::User(fact) => fact.claims.exp,
            Self::ServiceAccount(fact) => fact.claims.exp,
        })
    }
}

/// The caller holds this private key and signed exactly this request (RFC 9449 4.3).
///
/// Three checks are left to the caller: the token's binding to this key, the proof's freshness, and its nonce.
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

    /// The key's thumbprint of RFC 7638, which a token is bound to.
    pub fn jkt(&self) -> &Digest {
        &self.jkt
    }

    pub fn jti(&self) -> &str {
        &self.jti
    }

    pub fn issued_at(&self) -> UnixMillis {
        self.issued_at
    }

    /// As sent by the caller; not checked yet.
    pub fn nonce(&self) -> Option<&str> {
        self.nonce.as_deref()
    }
}

/// A transmitter's verified statement about a person (RFC 8417).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedSecurityEvent {
    issuer: String,
    jti: String,
    sub_id: Option<serde_json::Value>,
    events: serde_json::Map<String, serde_json::Value>,
}

impl VerifiedSecurityEvent {
    /// Only for `countersign-jose`, after the signature and every claim were checked.
    pub fn attest(
        issuer: String,
        jti: String,
        sub_id: Option<serde_json::Value>,
        events: serde_json::Map<String, serde_json::Value>,
    ) -> Self {
        Self { issuer, jti, sub_id, events }
    }

    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    pub fn jti(&self) -> &str {
        &self.jti
    }

    /// The subject of all events, as sent.
    pub fn sub_id(&self) -> Option<&serde_json::Value> {
        self.sub_id.as_ref()
    }

    /// The events by their types, as sent.
    pub fn events(&self) -> &serde_json::Map<String, serde_json::Value> {
        &self.events
    }
}
