//! A call, as an enforcement point saw it, and what is known about its bearer.

use crate::records::{AccessToken, Delegation, Project, Session};
use countersign_protocol::{facts::VerifiedProof, hash::Digest};
use std::sync::Arc;

/// A request as the enforcement point saw it. Only what the decision needs; never a secret, never free text.
#[derive(Clone, Debug, Default)]
pub struct Call {
    pub method: String,
    /// The public origin of the enforcement point, as configured and never as sent.
    pub origin: String,
    /// Raw, without the query.
    pub path: String,
    /// Raw, without the question mark.
    pub query: Option<String>,
    pub credential: Credential,
    /// The `DPoP` header.
    pub proof: Option<String>,
    /// The method and address that the proof is for, where they are not the call's own: a kept request is redeemed by
    /// another one.
    pub proof_for: Option<(String, String)>,
    pub version: Option<String>,
    pub mode: Option<String>,
    pub delegation_id: Option<String>,
    pub session_id: Option<String>,
    pub intent_type: Option<String>,
    /// SHA-256 of `X-Agent-Consent`, if it was sent.
    pub consent: Option<Digest>,
    /// SHA-256 of `Idempotency-Key`, if it was sent.
    pub idempotency_key: Option<Digest>,
    /// A dry run in any spelling.
    pub dry_run: bool,
    /// `X-Agent-Confirm`: a confirmation token, or `true` to have one looked up (C-02).
    pub confirm: Option<String>,
    /// How long the caller would wait for a person's yes: `Prefer: wait=N`.
    pub wait_s: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Credential {
    #[default]
    None,
    /// The hash of an access token, and the scheme under which it came.
    Token { hash: Digest, scheme: Scheme },
    /// An Authorization header that holds no token that could be ours.
    Unusable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    Bearer,
    Dpop,
}

/// What is known about the bearer of a token.
#[derive(Clone, Debug)]
pub struct AccessView {
    pub project: Arc<Project>,
    pub bearer: Option<Bearer>,
}

#[derive(Clone, Debug)]
pub struct Bearer {
    pub token: AccessToken,
    pub session: Session,
    pub delegation: Option<Delegation>,
}

/// How a proof is checked. A signature costs more than all the rest of a decision, so it is looked at only in its turn,
/// after the token.
pub struct Proving<'a> {
    pub verify: &'a dyn Fn(&str) -> Result<Proven, String>,
    /// Whether only a proof with a nonce of ours counts at present.
    pub nonce_demanded: bool,
}

/// A proof whose signature and claims are sound.
#[derive(Clone, Debug)]
pub struct Proven {
    pub proof: VerifiedProof,
    /// Whether it has a nonce that we gave out lately.
    pub nonce: bool,
}

impl Call {
    pub fn token(&self) -> Option<(&Digest, Scheme)> {
        match &self.credential {
            Credential::Token { hash, scheme } => Some((hash, *scheme)),
            _ => None,
        }
    }

    /// The method and address that a proof must be for.
    pub fn proven_for(&self) -> (String, String) {
        let own = || (self.method.clone(), format!("{}{}", self.origin, self.path));
        self.proof_for.clone().unwrap_or_else(own)
    }

    /// Path and query, as they came.
    pub fn target(&self) -> String {
        match &self.query {
            Some(query) => format!("{}?{query}", self.path),
            None => self.path.clone(),
        }
    }
}
