//! A call at an enforcement point, and the records of its bearer.

use super::DryRun;
use crate::records::{AccessToken, Delegation, Mode, Project, Receipt, ServiceAccount, Session};
use countersign_protocol::{facts::VerifiedProof, hash::Digest};
use std::{net::IpAddr, sync::Arc};

/// The parts of a request needed for the decision. Contains neither secrets nor free text.
#[derive(Clone, Debug, Default)]
pub struct Call {
    pub method: String,
    /// The public origin of the enforcement point, as configured, never as sent.
    pub origin: String,
    /// Raw, without the query.
    pub path: String,
    /// Raw, without the question mark.
    pub query: Option<String>,
    pub credential: CallCredential,
    /// The `DPoP` header.
    pub proof: Option<String>,
    /// The method and address of the proof, if they differ from the call's: a stored request is redeemed by another
    /// request.
    pub proof_for: Option<(String, String)>,
    pub version: Option<String>,
    pub mode: Option<String>,
    pub delegation_id: Option<String>,
    /// `X-Agent-Account`.
    pub account_id: Option<String>,
    pub session_id: Option<String>,
    pub intent_type: Option<String>,
    /// SHA-256 of `X-Agent-Consent`, if present.
    pub consent: Option<Digest>,
    /// SHA-256 of `Idempotency-Key`, if present.
    pub idempotency_key: Option<Digest>,
    /// The marker of a dry run. It is not part of the query above.
    pub dry_run: DryRun,
    /// `X-Agent-Confirm`: a confirmation token, or `true` to look one up (C-02).
    pub confirm: Option<String>,
    /// The address of the caller, as its connection or a trusted proxy shows it, never as the caller states it.
    pub client: Option<IpAddr>,
    /// The longest wait for a person's approval: `Prefer: wait=N`.
    pub wait_s: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CallCredential {
    #[default]
    None,
    /// The hash of an access token, and its scheme.
    Token { hash: Digest, scheme: Scheme },
    /// An Authorization header without a token of our format.
    Unusable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    Bearer,
    Dpop,
}

/// The records of a token's bearer.
#[derive(Clone, Debug)]
pub struct AccessView {
    pub project: Arc<Project>,
    pub bearer: Option<Bearer>,
}

#[derive(Clone, Debug)]
pub struct Bearer {
    pub token: AccessToken,
    pub session: Session,
    /// The delegation of the token's mode.
    pub delegation: Option<Delegation>,
}

impl Bearer {
    pub fn mode(&self) -> Mode {
        self.token.mode
    }

    pub fn receipt(&self) -> Option<&Receipt> {
        self.session.receipt_in(self.token.mode)
    }

    pub fn service_account(&self) -> Option<&ServiceAccount> {
        self.delegation.as_ref()?.service_account.as_deref()
    }
}

/// Proof verification. A signature costs more than the rest of the decision, so it is verified only in its turn, after
/// the token.
pub struct Proving<'a> {
    pub verify: &'a dyn Fn(&str) -> Result<ProvenProof, String>,
    /// Whether a proof currently needs a nonce of ours.
    pub nonce_demanded: bool,
}

/// A proof with a valid signature and valid JWT claims.
#[derive(Clone, Debug)]
pub struct ProvenProof {
    pub proof: VerifiedProof,
    /// Whether it contains a recent nonce of ours.
    pub nonce: bool,
}

impl Call {
    pub fn token(&self) -> Option<(&Digest, Scheme)> {
        match &self.credential {
            CallCredential::Token { hash, scheme } => Some((hash, *scheme)),
            _ => None,
        }
    }

    /// The method and address required in the proof.
    pub fn proven_for(&self) -> (String, String) {
        let own = || (self.method.clone(), format!("{}{}", self.origin, self.path));
        self.proof_for.clone().unwrap_or_else(own)
    }

    /// Path and query, as received.
    pub fn target(&self) -> String {
        match &self.query {
            Some(query) => format!("{}?{query}", self.path),
            None => self.path.clone(),
        }
    }
}
