//! Verification of compact JWTs: the common part.

pub(crate) mod delegation;
pub(crate) mod dpop;
mod htu;
pub(crate) mod manifest;
pub(crate) mod operator;
pub(crate) mod receipt;
pub(crate) mod security_event;

use crate::compact::{Compact, Malformed};
use crate::key_set::{KeySet, NoKey};
use countersign_protocol::{
    aap::claims::{BadClaim, SKEW_SECS, not_before},
    domain::Domain,
    time::UnixMillis,
};
use serde_json::Value;

/// The expected issuer and audience of a token.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// The domain of the fetched key set: no operator speaks for another.
    pub operator: &'a Domain,
    /// The service's base URI, byte for byte (C-13).
    pub service: &'a str,
}

/// Why a token does not prove its signer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsigned {
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The set may be out of date: worth one more fetch (AAP 20.1).
    #[error(transparent)]
    NoKey(#[from] NoKey),
    #[error("the token's algorithm does not fit the key that it names")]
    Algorithm,
    #[error("the signature is not one of the named key")]
    Signature,
}

/// Checks form, key and signature, in this order. The kid selects one key; no other is tried (AAP 20.1).
fn signed<'a>(jwt: &'a str, keys: &KeySet) -> Result<Compact<'a>, Unsigned> {
    let token = Compact::parse(jwt)?;
    let key = keys.find(&token.kid)?;
    if !key.fits(token.alg) {
        return Err(Unsigned::Algorithm);
    }
    if key.verifies(token.alg, token.signed.as_bytes(), &token.signature) {
        Ok(token)
    } else {
        Err(Unsigned::Signature)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TokenKind {
    Stated,
    /// No `typ`, or just "JWT": the claims must identify the kind.
    Open,
    Another,
}

impl Compact<'_> {
    /// The token's kind according to its `typ` (C-66).
    ///
    /// Media types compare case-insensitively and may be written in full (RFC 7515 4.1.9).
    fn stated_kind(&self, typ: &str) -> TokenKind {
        let own = self.typ.as_deref().map(str::to_ascii_lowercase);
        match own.as_deref().map(|own| own.strip_prefix("application/").unwrap_or(own)) {
            None | Some("jwt") => TokenKind::Open,
            Some(own) if own == typ => TokenKind::Stated,
            Some(_) => TokenKind::Another,
        }
    }

    /// A `kid` claim must equal the header's (C-35).
    fn has_wrong_kid(&self) -> bool {
        self.payload.get("kid").is_some_and(|kid| kid != &Value::from(self.kid.as_str()))
    }

    /// Whether `nbf` is further ahead than the clock skew allows (C-87).
    fn is_too_early(&self, now: UnixMillis) -> Result<bool, BadClaim> {
        Ok(not_before(&self.payload)?.is_some_and(|nbf| UnixMillis::from_secs(nbf) > now.plus_secs(SKEW_SECS)))
    }
}

/// A token that ends before it begins is expired, regardless of clock skew (C-32).
fn is_expired(iat: i64, exp: i64, now: UnixMillis) -> bool {
    exp <= iat || now > UnixMillis::from_secs(exp).plus_secs(SKEW_SECS)
}

fn is_issued_in_future(iat: i64, now: UnixMillis) -> bool {
    UnixMillis::from_secs(iat) > now.plus_secs(SKEW_SECS)
}
