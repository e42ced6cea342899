//! A person's delegation, as held by the operator.

use crate::secret::ClientSecret;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_protocol::{domain::Domain, json, time::UnixMillis};
use serde::Deserialize;

/// A delegation token with its claims. Only a service issues one: there is no way to construct it here (AAP 5.1).
#[derive(Clone, Debug)]
pub struct Delegation {
    token: ClientSecret,
    claims: DelegationTokenClaims,
}

/// Why a text is no delegation token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a delegation token as a service issues it")]
pub struct BadDelegation;

/// Claims that a newer service adds are ignored (AAP 22.4).
#[derive(Clone, Debug, Deserialize)]
struct DelegationTokenClaims {
    iss: String,
    sub: String,
    delegated_to: Domain,
    delegation_id: String,
    scopes: Vec<String>,
    exp: i64,
}

impl Delegation {
    /// Reads a token issued by a service. The signature is not verified here: the service refuses a wrong one.
    pub fn from_token(token: &str) -> Result<Self, BadDelegation> {
        let mut parts = token.split('.');
        let (Some(_), Some(payload), Some(_), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
            return Err(BadDelegation);
        };
        let payload = URL_SAFE_NO_PAD.decode(payload).map_err(|_| BadDelegation)?;
        let claims = json::from_slice(&payload).map_err(|_| BadDelegation)?;
        Ok(Self { token: ClientSecret::new(token), claims })
    }

    /// The token itself, for safe storage between two runs.
    pub fn token(&self) -> &str {
        self.token.reveal()
    }

    pub fn id(&self) -> &str {
        &self.claims.delegation_id
    }

    /// The service that issued it, as its manifest spells it.
    pub fn service(&self) -> &str {
        &self.claims.iss
    }

    /// The person's subject at the service.
    pub fn subject(&self) -> &str {
        &self.claims.sub
    }

    /// The operator whose agents may use it.
    pub fn operator(&self) -> &Domain {
        &self.claims.delegated_to
    }

    pub fn scopes(&self) -> &[String] {
        &self.claims.scopes
    }

    pub fn expires_at(&self) -> UnixMillis {
        UnixMillis::from_secs(self.claims.exp)
    }
}
