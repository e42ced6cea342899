//! The operator JWT: an operator's statement that an agent is its own (AAP 4.1, 5, 23.2).

use super::claims::{BadClaim, ClaimReader};
use crate::domain::Domain;
use serde::Serialize;
use serde_json::{Map, Value};

/// The `typ` that we write (C-66).
pub const TYP: &str = "aap-operator+jwt";

/// The longest lifetime of an operator JWT in seconds, before clock skew is added (C-66).
pub const MAX_LIFE_SECS: i64 = 3600;

/// Claims of a consent receipt or a delegation token: an operator JWT with one of them is invalid.
pub const FOREIGN_CLAIMS: &[&str] = &["delegation_id", "scopes", "consent_method"];

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OperatorClaims {
    pub iss: Domain,
    /// The base URI of the addressed service, as its manifest spells it (C-13).
    pub aud: String,
    pub iat: i64,
    pub exp: i64,
    /// Must equal the header's, which is authoritative (C-35).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kid: Option<String>,
}

impl OperatorClaims {
    /// Unknown claims are ignored (AAP 22.4).
    pub fn parse(payload: &Map<String, Value>) -> Result<Self, BadClaim> {
        let claims = ClaimReader(payload);
        Ok(Self {
            iss: claims.domain("iss")?,
            aud: claims.text("aud")?.to_owned(),
            iat: claims.integer("iat")?,
            exp: claims.integer("exp")?,
            kid: claims.optional_text("kid")?.map(str::to_owned),
        })
    }
}
