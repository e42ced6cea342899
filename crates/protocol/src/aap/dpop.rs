//! The DPoP proof: a signature for one request, proving that the caller holds the key of its access token (AAP 18, RFC
//! 9449).

use super::claims::{BadClaim, ClaimReader, wrong};
use serde::Serialize;
use serde_json::{Map, Value};

/// The request header with the proof.
pub const HEADER: &str = "dpop";

/// The response header with the nonce for the next proof (RFC 9449 8).
pub const NONCE_HEADER: &str = "dpop-nonce";

/// The scheme of a bound token in `Authorization`, of our challenge, and the value of `token_type` (C-29).
pub const SCHEME: &str = "DPoP";

/// The required `typ` of a proof, byte for byte (AAP 18.3).
pub const TYP: &str = "dpop+jwt";

/// The signature algorithms of proofs, as listed in the challenge (C-30).
pub const ALGS: &str = "ES256 PS256";

/// The challenge's error when only the nonce is wrong (C-27).
pub const USE_NONCE: &str = "use_dpop_nonce";

/// The challenge's error for every other fault of a proof (C-27).
pub const INVALID_PROOF: &str = "invalid_dpop_proof";

/// The challenge's error for a valid proof with an invalid token (RFC 9449 7.1).
pub const INVALID_TOKEN: &str = "invalid_token";

/// The longest `jti`. It is stored until the proof expires, so the sender must not choose its size.
pub const MAX_JTI_CHARS: usize = 256;

/// The value of `WWW-Authenticate` (AAP 18.4). `error` is a constant of this module, which needs no escaping.
pub fn challenge(error: Option<&str>) -> String {
    match error {
        Some(error) => format!(r#"{SCHEME} error="{error}", algs="{ALGS}""#),
        None => format!(r#"{SCHEME} algs="{ALGS}""#),
    }
}

/// The claims of a proof. Borrowed, because they are read once per call and mostly compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ProofClaims<'a> {
    pub jti: &'a str,
    /// The method of the request.
    pub htm: &'a str,
    /// The URI of the request, without query and fragment.
    pub htu: &'a str,
    pub iat: i64,
    /// The access token's SHA-256 in base64url; absent before there is a token (AAP 18.3).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ath: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nonce: Option<&'a str>,
}

impl<'a> ProofClaims<'a> {
    /// Unknown claims are ignored (AAP 22.4).
    pub fn parse(payload: &'a Map<String, Value>) -> Result<Self, BadClaim> {
        let claims = ClaimReader(payload);
        Ok(Self {
            jti: jti(claims)?,
            htm: claims.text("htm")?,
            htu: claims.text("htu")?,
            iat: claims.integer("iat")?,
            ath: claims.optional_text("ath")?,
            nonce: claims.optional_text("nonce")?,
        })
    }
}

/// Any non-empty text is accepted (C-31).
fn jti(claims: ClaimReader<'_>) -> Result<&str, BadClaim> {
    let jti = claims.text("jti")?;
    let fits = !jti.is_empty() && jti.chars().count() <= MAX_JTI_CHARS;
    if fits { Ok(jti) } else { Err(wrong("jti", "must have 1 to 256 characters")) }
}

#[cfg(test)]
mod tests;
