//! The operator JWT: an operator's word that an agent is its own (AAP 4.1, 5, 23.2).

use super::claims::{BadClaim, Claims};
use crate::domain::Domain;
use serde::Serialize;
use serde_json::{Map, Value};

/// The `typ` that we write (C-66).
pub const TYP: &str = "aap-operator+jwt";

/// The longest life of an operator JWT in seconds, before the clocks' skew is added (C-66).
pub const MAX_LIFE_SECS: i64 = 3600;

/// Claims that only a consent receipt or a delegation token has: an operator JWT with one of them is none.
pub const FOREIGN_CLAIMS: &[&str] = &["delegation_id", "scopes", "consent_method"];

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OperatorClaims {
    pub iss: Domain,
    /// The base URI of the service that is spoken to, as its manifest spells it (C-13).
    pub aud: String,
    pub iat: i64,
    pub exp: i64,
    /// Must say the same as the header, which decides (C-35).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kid: Option<String>,
}

impl OperatorClaims {
    /// Claims that nothing here knows are ignored (AAP 22.4).
    pub fn parse(payload: &Map<String, Value>) -> Result<Self, BadClaim> {
        let claims = Claims(payload);
        Ok(Self {
            iss: claims.domain("iss")?,
            aud: claims.text("aud")?.to_owned(),
            iat: claims.integer("iat")?,
            exp: claims.integer("exp")?,
            kid: claims.optional_text("kid")?.map(str::to_owned),
        })
    }
}
