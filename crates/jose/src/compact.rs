//! Strict parsing of the compact form of a JWT, without trusting any of it.

use crate::Algorithm;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_protocol::{hash::Digest, json};
use serde_json::{Map, Value};

/// No legitimate token comes near this size.
pub const MAX_TOKEN_BYTES: usize = 8 * 1024;

/// Header members that would supply a key or demand an unsupported feature (RFC 8725 3.1, 3.10).
pub(crate) const REFUSED_IN_HEADER: &[&str] = &["crit", "b64", "jwk", "jku", "x5u", "x5c"];

/// Why a text can never be an acceptable JWT, with any keys.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    #[error("the token is longer than {MAX_TOKEN_BYTES} bytes")]
    TooLong,
    #[error("a JWT has three parts, set apart by two dots")]
    NotThreeParts,
    #[error("the token's {0} is not base64url without padding")]
    Base64(&'static str),
    #[error("the token's {0} is not a JSON object in which each member occurs once")]
    Json(&'static str),
    #[error("the token's header may not have \"{0}\"")]
    RefusedHeader(&'static str),
    #[error("the token must be signed with RS256, RS384, RS512, ES256, ES384 or PS256")]
    Algorithm,
    #[error("the token's header must name its key by \"kid\"")]
    NoKid,
    #[error("the token's header has a \"typ\" that is not a string")]
    Typ,
    #[error("the token does not name its issuer: \"iss\" must be a string")]
    NoIssuer,
}

/// The unverified statements of a token: sufficient for finding the key, and for nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peek {
    pub alg: Algorithm,
    pub kid: String,
    pub typ: Option<String>,
    pub iss: String,
}

/// Reads a token without verifying it.
pub fn peek(jwt: &str) -> Result<Peek, Malformed> {
    let token = Compact::parse(jwt)?;
    let iss = token.payload.get("iss").and_then(Value::as_str).ok_or(Malformed::NoIssuer)?.to_owned();
    Ok(Peek { alg: token.alg, kid: token.kid, typ: token.typ, iss })
}

/// A token in its parts.
pub(crate) struct Compact<'a> {
    pub(crate) alg: Algorithm,
    pub(crate) kid: String,
    pub(crate) typ: Option<String>,
    pub(crate) payload: Map<String, Value>,
    /// Header and payload as sent, which the signature covers.
    pub(crate) signed: &'a str,
    pub(crate) signature: Vec<u8>,
    whole: &'a str,
}

impl<'a> Compact<'a> {
    pub(crate) fn parse(jwt: &'a str) -> Result<Self, Malformed> {
        let Parts { header, payload, signature, signed } = Parts::of(jwt)?;
        let header = Header::read(&object(header, "header")?)?;
        let payload = object(payload, "payload")?;
        let signature = decode(signature, "signature")?;
        Ok(Self { alg: header.alg, kid: header.kid, typ: header.typ, payload, signed, signature, whole: jwt })
    }

    pub(crate) fn sha256(&self) -> Digest {
        Digest::of(self.whole.as_bytes())
    }

    /// Over header and payload alone.
    pub(crate) fn signing_input_sha256(&self) -> Digest {
        Digest::of(self.signed.as_bytes())
    }
}

/// The three parts as sent, and the signed part.
pub(crate) struct Parts<'a> {
    pub(crate) header: &'a str,
    pub(crate) payload: &'a str,
    pub(crate) signature: &'a str,
    pub(crate) signed: &'a str,
}

impl<'a> Parts<'a> {
    pub(crate) fn of(jwt: &'a str) -> Result<Self, Malformed> {
        if jwt.len() > MAX_TOKEN_BYTES {
            return Err(Malformed::TooLong);
        }
        let (signed, signature) = jwt.rsplit_once('.').ok_or(Malformed::NotThreeParts)?;
        let (header, payload) = signed.split_once('.').ok_or(Malformed::NotThreeParts)?;
        if payload.contains('.') {
            return Err(Malformed::NotThreeParts);
        }
        Ok(Self { header, payload, signature, signed })
    }
}

struct Header {
    alg: Algorithm,
    kid: String,
    typ: Option<String>,
}

impl Header {
    fn read(members: &Map<String, Value>) -> Result<Self, Malformed> {
        if let Some(name) = REFUSED_IN_HEADER.iter().find(|name| members.contains_key(**name)) {
            return Err(Malformed::RefusedHeader(name));
        }
        let alg = members.get("alg").and_then(Value::as_str).and_then(Algorithm::parse).ok_or(Malformed::Algorithm)?;
        let kid = members.get("kid").and_then(Value::as_str).filter(|kid| !kid.is_empty()).ok_or(Malformed::NoKid)?;
        let typ = match members.get("typ") {
            Some(typ) => Some(typ.as_str().ok_or(Malformed::Typ)?.to_owned()),
            None => None,
        };
        Ok(Self { alg, kid: kid.to_owned(), typ })
    }
}

pub(crate) fn object(part: &str, name: &'static str) -> Result<Map<String, Value>, Malformed> {
    match json::value(&decode(part, name)?) {
        Ok(Value::Object(members)) => Ok(members),
        _ => Err(Malformed::Json(name)),
    }
}

/// Strict: no padding, no whitespace, and zero in the remaining bits, so that a token has one spelling.
pub(crate) fn decode(part: &str, name: &'static str) -> Result<Vec<u8>, Malformed> {
    URL_SAFE_NO_PAD.decode(part).map_err(|_| Malformed::Base64(name))
}
