//! The DPoP proof: a caller's word, signed for one request, that it holds the key of its access token (AAP 18, RFC 9449).

use super::claims::{BadClaim, Claims, wrong};
use serde::Serialize;
use serde_json::{Map, Value};

/// The request's header that carries the proof.
pub const HEADER: &str = "dpop";

/// The answer's header with the nonce for the next proof (RFC 9449 8).
pub const NONCE_HEADER: &str = "dpop-nonce";

/// The word before a bound token in `Authorization`, before our challenge, and in `token_type` (C-29).
pub const SCHEME: &str = "DPoP";

/// The `typ` that a proof must have, byte for byte (AAP 18.3).
pub const TYP: &str = "dpop+jwt";

/// With what a proof may be signed, as the challenge lists it (C-30).
pub const ALGS: &str = "ES256 PS256";

/// The challenge's error when nothing but the nonce is wrong (C-27).
pub const USE_NONCE: &str = "use_dpop_nonce";

/// The challenge's error for every other fault of a proof (C-27).
pub const INVALID_PROOF: &str = "invalid_dpop_proof";

/// The challenge's error when the proof is sound and the token behind it is not (RFC 9449 7.1).
pub const INVALID_TOKEN: &str = "invalid_token";

/// How long a `jti` may be: it is remembered until the proof is too old, so its size is not left to the sender.
pub const MAX_JTI_CHARS: usize = 256;

/// The value of `WWW-Authenticate` (AAP 18.4). `error` is one of this module's words, which need no escaping.
pub fn challenge(error: Option<&str>) -> String {
    match error {
        Some(error) => format!(r#"{SCHEME} error="{error}", algs="{ALGS}""#),
        None => format!(r#"{SCHEME} algs="{ALGS}""#),
    }
}

/// What a proof says. Borrowed, because it is read once a call and mostly compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ProofClaims<'a> {
    pub jti: &'a str,
    /// The method of the request.
    pub htm: &'a str,
    /// The address of the request, without query and fragment.
    pub htu: &'a str,
    pub iat: i64,
    /// The access token's SHA-256 in base64url; absent where there is no token yet (AAP 18.3).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ath: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nonce: Option<&'a str>,
}

impl<'a> ProofClaims<'a> {
    /// Claims that nothing here knows are ignored (AAP 22.4).
    pub fn parse(payload: &'a Map<String, Value>) -> Result<Self, BadClaim> {
        let claims = Claims(payload);
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

/// Any text will do, as long as there is some (C-31).
fn jti(claims: Claims<'_>) -> Result<&str, BadClaim> {
    let jti = claims.text("jti")?;
    let fits = !jti.is_empty() && jti.chars().count() <= MAX_JTI_CHARS;
    if fits { Ok(jti) } else { Err(wrong("jti", "must have 1 to 256 characters")) }
}

#[cfg(test)]
mod tests;
