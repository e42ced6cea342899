//! The operator exchanges its one-time code for the delegation token.

use crate::{
    aap::{delegate, service_account},
    env::Env,
    records::{ConnectProgress, ConnectRequest, Delegation, Record},
    refusal::Refusal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::{
    aap::{delegation_token::DelegationClaims, service_account::ServiceAccountClaims},
    facts::VerifiedOperator,
    hash::Digest,
};
use serde::Serialize;

/// The claims of a delegation token of either mode.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum GrantClaims {
    User(DelegationClaims),
    ServiceAccount(ServiceAccountClaims),
}

pub struct CodeExchange<'a> {
    pub operator: &'a VerifiedOperator,
    pub code_verifier: &'a str,
}

pub struct ExchangeView {
    /// The request found by the code's hash.
    pub request: Option<ConnectRequest>,
    pub delegation: Option<Delegation>,
    pub project: i64,
}

impl Operation for CodeExchange<'_> {
    type View = ExchangeView;
    type Answer = (Delegation, GrantClaims);
    type Refusal = Refusal;

    /// All failures give the same response, so that guessing reveals nothing.
    fn decide(self, view: &ExchangeView, env: &Env) -> Result<Step<Self::Answer>, Refusal> {
        let refused = || Refusal::invalid("code is unknown, used or expired, or code_verifier does not match it");
        let request = view.request.as_ref().filter(|r| r.project == view.project).ok_or_else(refused)?;
        let ConnectProgress::Approved { delegation: key, code_expires_at, .. } = request.progress else {
            return Err(refused());
        };
        let proven = request.operator == *self.operator.domain() && self.verifier_fits(&request.code_challenge);
        let delegation = view.delegation.as_ref().filter(|d| d.key == key).ok_or_else(refused)?;
        if !proven || env.now >= code_expires_at {
            return Err(refused());
        }
        let exchanged = ConnectRequest {
            progress: ConnectProgress::Exchanged { delegation: key, at: env.now },
            version: request.version + 1,
            ..request.clone()
        };
        let effects = Effects { puts: vec![Record::ConnectRequest(exchanged)], ..Effects::default() };
        let claims = match service_account::claims(delegation) {
            Some(claims) => GrantClaims::ServiceAccount(claims),
            None => GrantClaims::User(delegate::claims(delegation, &request.service)),
        };
        Ok(Step { answer: (delegation.clone(), claims), effects })
    }
}

impl CodeExchange<'_> {
    /// RFC 7636, S256.
    fn verifier_fits(&self, challenge: &str) -> bool {
        (43..=128).contains(&self.code_verifier.len())
            && Digest::of(self.code_verifier.as_bytes()).base64url() == challenge
    }
}
