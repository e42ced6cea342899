//! The delegation token: the service's statement that a person lets an operator's agents act (AAP 5.2, 19.4).

use super::claims::{BadClaim, ClaimReader, wrong};
use crate::{domain::Domain, ids};
use serde::Serialize;
use serde_json::{Map, Value};

/// The `typ` that we write (C-66).
pub const TYP: &str = "aap-delegation+jwt";

/// The range of `max_agent_ttl`, in seconds.
pub const AGENT_TTL: std::ops::RangeInclusive<i64> = 300..=86_400;

/// All claims. We are the only issuer, so a token with any other claim is not ours (C-07).
const CLAIMS: &[&str] = &["iss", "sub", "delegated_to", "delegation_id", "scopes", "max_agent_ttl", "iat", "exp"];

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DelegationClaims {
    /// The service's base URI exactly as its manifest spells it, never a bare host (C-12).
    pub iss: String,
    pub sub: String,
    pub delegated_to: Domain,
    pub delegation_id: String,
    pub scopes: Vec<String>,
    /// The longest lifetime of an access token derived from this one, in seconds.
    pub max_agent_ttl: i64,
    pub iat: i64,
    pub exp: i64,
}

impl DelegationClaims {
    pub fn parse(payload: &Map<String, Value>) -> Result<Self, BadClaim> {
        let claims = ClaimReader(payload);
        check_closed(payload)?;
        Ok(Self {
            iss: claims.text("iss")?.to_owned(),
            sub: claims.text("sub")?.to_owned(),
            delegated_to: claims.domain("delegated_to")?,
            delegation_id: delegation_id(claims)?,
            scopes: claims.at_least_one_text("scopes")?,
            max_agent_ttl: max_agent_ttl(claims)?,
            iat: claims.integer("iat")?,
            exp: claims.integer("exp")?,
        })
    }
}

fn check_closed(payload: &Map<String, Value>) -> Result<(), BadClaim> {
    let known = payload.keys().all(|name| CLAIMS.contains(&name.as_str()));
    if known { Ok(()) } else { Err(BadClaim::Unknown) }
}

fn delegation_id(claims: ClaimReader<'_>) -> Result<String, BadClaim> {
    let id = claims.text("delegation_id")?;
    let bad = wrong("delegation_id", "must be del_ and 6 to 32 lower-case letters and digits");
    if ids::is_delegation_id(id) { Ok(id.to_owned()) } else { Err(bad) }
}

fn max_agent_ttl(claims: ClaimReader<'_>) -> Result<i64, BadClaim> {
    let ttl = claims.integer("max_agent_ttl")?;
    let bad = wrong("max_agent_ttl", "must be 300 to 86400 seconds");
    if AGENT_TTL.contains(&ttl) { Ok(ttl) } else { Err(bad) }
}
