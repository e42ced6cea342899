//! One key of a set: whether it is usable, and if not, why.

use crate::algorithm::{Algorithm, Family};
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ParsedPublicKey, VerificationAlgorithm};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_protocol::hash::Digest;
use jsonwebtoken::{DecodingKey, crypto::aws_lc::DEFAULT_PROVIDER};
use serde_json::{Map, Value};
use std::sync::Arc;

/// The thumbprint of the key of RFC 7515 A.3 and AAP 23.1 with a published private half: anyone can sign with it.
const PUBLISHED_TEST_KEY: &str = "oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U";

/// Any of these makes a key private or symmetric (RFC 7518 6.2.2, 6.3.2, 6.4.1).
const PRIVATE_MEMBERS: &[&str] = &["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/// Why a key is never used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyFlaw {
    #[error("it has no kid")]
    NoKid,
    #[error("another key of the set has the same kid")]
    SameKid,
    #[error("it is published with its private part, so anyone may have signed with it")]
    Private,
    #[error("its type or curve is not RSA, P-256 or P-384")]
    Unsupported,
    #[error("its \"alg\" is not one that AAP permits for this type of key")]
    Algorithm,
    #[error("it is not for signatures: \"use\" must be sig, \"key_ops\" must have verify")]
    Purpose,
    #[error("its RSA modulus must have 2048 to 8192 bits, its exponent must be odd and above 1")]
    WeakRsa,
    #[error("its numbers are missing, not base64url, or no point of the curve")]
    BadNumbers,
    #[error("it is a published test key")]
    PublishedTestKey,
}

/// Exceptions from the protocol's own rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyPolicy {
    /// For running the protocol's vectors, never in production (AAP 23).
    pub allow_published_test_keys: bool,
}

/// A public key, ready for verification.
#[derive(Clone, Debug)]
pub struct VerifyingKey {
    family: Family,
    /// The algorithm that the key itself names.
    alg: Option<Algorithm>,
    thumbprint: String,
    key: DecodingKey,
    /// A point of a curve, in the form with the fastest verification.
    point: Option<Arc<ParsedPublicKey>>,
}

impl VerifyingKey {
    pub(crate) fn parse(jwk: &Map<String, Value>, policy: KeyPolicy) -> Result<Self, KeyFlaw> {
        if PRIVATE_MEMBERS.iter().any(|member| jwk.contains_key(*member)) {
            return Err(KeyFlaw::Private);
        }
        check_purpose(jwk)?;
        let numbers = Numbers::read(jwk)?;
        let alg = stated_algorithm(jwk, numbers.family)?;
        if numbers.thumbprint == PUBLISHED_TEST_KEY && !policy.allow_published_test_keys {
            return Err(KeyFlaw::PublishedTestKey);
        }
        let Numbers { family, thumbprint, key, point } = numbers;
        Ok(Self { family, alg, thumbprint, key, point })
    }

    /// RFC 7638, SHA-256, base64url.
    pub fn thumbprint(&self) -> &str {
        &self.thumbprint
    }

    /// Whether this key may verify that algorithm: type, curve and the key's own `alg` must fit.
    pub fn fits(&self, alg: Algorithm) -> bool {
        alg.family() == self.family && self.alg.is_none_or(|own| own == alg)
    }

    pub(crate) fn verifies(&self, alg: Algorithm, signed: &[u8], signature: &Vec<u8>) -> bool {
        if !self.fits(alg) {
            return false;
        }
        // An algorithm that fits a point is the one it was parsed for.
        if let Some(point) = &self.point {
            return point.verify_sig(signed, signature).is_ok();
        }
        let verifier = (DEFAULT_PROVIDER.verifier_factory)(&alg.to_jsonwebtoken(), &self.key);
        verifier.is_ok_and(|v| v.verify(signed, signature).is_ok())
    }
}

fn check_purpose(jwk: &Map<String, Value>) -> Result<(), KeyFlaw> {
    let used_to_sign = jwk.get("use").is_none_or(|purpose| purpose == "sig");
    let verify = |ops: &Value| ops.as_array().is_some_and(|ops| ops.iter().any(|op| op == "verify"));
    if used_to_sign && jwk.get("key_ops").is_none_or(verify) { Ok(()) } else { Err(KeyFlaw::Purpose) }
}

fn stated_algorithm(jwk: &Map<String, Value>, family: Family) -> Result<Option<Algorithm>, KeyFlaw> {
    let Some(stated) = jwk.get("alg") else { return Ok(None) };
    let alg = stated.as_str().and_then(Algorithm::parse).filter(|alg| alg.family() == family);
    alg.map(Some).ok_or(KeyFlaw::Algorithm)
}

struct Numbers {
    family: Family,
    thumbprint: String,
    key: DecodingKey,
    point: Option<Arc<ParsedPublicKey>>,
}

impl Numbers {
    fn read(jwk: &Map<String, Value>) -> Result<Self, KeyFlaw> {
        let text = |member: &str| jwk.get(member).and_then(Value::as_str);
        match (text("kty"), text("crv")) {
            (Some("RSA"), _) => Self::rsa(jwk),
            (Some("EC"), Some("P-256")) => Self::ec(jwk, Family::P256, 32, &ECDSA_P256_SHA256_FIXED),
            (Some("EC"), Some("P-384")) => Self::ec(jwk, Family::P384, 48, &ECDSA_P384_SHA384_FIXED),
            _ => Err(KeyFlaw::Unsupported),
        }
    }

    fn ec(
        jwk: &Map<String, Value>,
        family: Family,
        width: usize,
        algorithm: &'static dyn VerificationAlgorithm,
    ) -> Result<Self, KeyFlaw> {
        let ((x, x_text), (y, y_text)) = (number(jwk, "x")?, number(jwk, "y")?);
        if x.len() != width || y.len() != width {
            return Err(KeyFlaw::BadNumbers);
        }
        let point = [&[4], x.as_slice(), y.as_slice()].concat();
        let parsed = ParsedPublicKey::new(algorithm, &point).map_err(|_| KeyFlaw::BadNumbers)?;
        let curve = if family == Family::P256 { "P-256" } else { "P-384" };
        let thumbprint = thumbprint(&format!(r#"{{"crv":"{curve}","kty":"EC","x":"{x_text}","y":"{y_text}"}}"#));
        Ok(Self { family, thumbprint, key: DecodingKey::from_ec_der(&point), point: Some(Arc::new(parsed)) })
    }

    fn rsa(jwk: &Map<String, Value>) -> Result<Self, KeyFlaw> {
        let ((n, n_text), (e, e_text)) = (number(jwk, "n")?, number(jwk, "e")?);
        if !is_strong(&n, &e) {
            return Err(KeyFlaw::WeakRsa);
        }
        let thumbprint = thumbprint(&format!(r#"{{"e":"{e_text}","kty":"RSA","n":"{n_text}"}}"#));
        let key = DecodingKey::from_rsa_raw_components(&n, &e);
        Ok(Self { family: Family::Rsa, thumbprint, key, point: None })
    }
}

pub(crate) fn number<'a>(jwk: &'a Map<String, Value>, member: &str) -> Result<(Vec<u8>, &'a str), KeyFlaw> {
    let text = jwk.get(member).and_then(Value::as_str).ok_or(KeyFlaw::BadNumbers)?;
    Ok((URL_SAFE_NO_PAD.decode(text).map_err(|_| KeyFlaw::BadNumbers)?, text))
}

/// An exponent of one would make every message its own signature.
fn is_strong(n: &[u8], e: &[u8]) -> bool {
    let bits = n.first().map_or(0, |top| n.len() * 8 - top.leading_zeros() as usize);
    let plain = n.first() != Some(&0) && e.first() != Some(&0);
    let odd = |number: &[u8]| number.last().is_some_and(|low| low % 2 == 1);
    plain && (2048..=8192).contains(&bits) && odd(n) && odd(e) && e.len() <= 4 && e != [1]
}

/// RFC 7638: the required members in order, without whitespace. Base64url needs no escaping.
pub(crate) fn thumbprint(required_members: &str) -> String {
    Digest::of(required_members.as_bytes()).base64url()
}
