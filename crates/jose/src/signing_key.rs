//! Our own keys: ES256, as AAP 20.4 recommends.

use crate::{Algorithm, jwk};
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_protocol::aap::jwks::PublicJwk;
use jsonwebtoken::{EncodingKey, crypto::aws_lc::DEFAULT_PROVIDER};
use serde::Serialize;
use serde_json::{Value, json};
use zeroize::Zeroizing;

/// Why bytes are no signing key. Reveals nothing about the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a P-256 private key")]
pub struct BadSigningKey;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the claims could not be written as JSON, or the key could not sign")]
pub struct SigningFailed;

/// A P-256 key pair with its name. The private half is wiped when dropped and never printed.
#[derive(Clone)]
pub struct SigningKey {
    public: PublicJwk,
    pkcs8: EncodingKey,
}

impl SigningKey {
    /// A new key. Its default name is the first 16 characters of its thumbprint.
    pub fn generate(kid: Option<&str>) -> Result<Self, BadSigningKey> {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).map_err(|_| BadSigningKey)?;
        Self::of(kid, &pair)
    }

    pub fn from_pkcs8(kid: Option<&str>, pkcs8: &[u8]) -> Result<Self, BadSigningKey> {
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8).map_err(|_| BadSigningKey)?;
        Self::of(kid, &pair)
    }

    /// From a private JWK with a matching public part.
    pub fn from_jwk(jwk: &Value) -> Result<Self, BadSigningKey> {
        if jwk.get("kty") != Some(&json!("EC")) || jwk.get("crv") != Some(&json!("P-256")) {
            return Err(BadSigningKey);
        }
        let d = Zeroizing::new(number(jwk, "d")?);
        let point = [&[4], number(jwk, "x")?.as_slice(), number(jwk, "y")?.as_slice()].concat();
        let pair = EcdsaKeyPair::from_private_key_and_public_key(&ECDSA_P256_SHA256_FIXED_SIGNING, &d, &point);
        Self::of(jwk.get("kid").and_then(Value::as_str), &pair.map_err(|_| BadSigningKey)?)
    }

    fn of(kid: Option<&str>, pair: &EcdsaKeyPair) -> Result<Self, BadSigningKey> {
        let pkcs8 = pair.to_pkcs8v1().map_err(|_| BadSigningKey)?;
        let point = pair.public_key().as_ref();
        let half = |range| point.get(range).map(|bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes)).ok_or(BadSigningKey);
        let (x, y) = (half(1..33)?, half(33..65)?);
        let kid = kid.map_or_else(|| thumbprint(&x, &y).chars().take(16).collect(), str::to_owned);
        Ok(Self { public: PublicJwk::new(kid, x, y), pkcs8: EncodingKey::from_ec_der(pkcs8.as_ref()) })
    }

    pub fn kid(&self) -> &str {
        &self.public.kid
    }

    /// The private key, for encrypted storage (R-26). Wiped when dropped.
    pub fn to_pkcs8(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(self.pkcs8.as_bytes().to_vec())
    }

    /// The public part, for publication.
    pub fn public_jwk(&self) -> &PublicJwk {
        &self.public
    }

    /// RFC 7638, SHA-256, base64url.
    pub fn thumbprint(&self) -> String {
        thumbprint(&self.public.x, &self.public.y)
    }

    /// A JWT of that `typ` in compact form, naming this key.
    pub fn sign<T: Serialize>(&self, typ: &str, claims: &T) -> Result<String, SigningFailed> {
        self.sign_with_header(&json!({ "alg": "ES256", "kid": self.kid(), "typ": typ }), claims)
    }

    /// A JWT with any header, for testing a service with unusual ones.
    pub fn sign_with_header<T: Serialize>(&self, header: &Value, claims: &T) -> Result<String, SigningFailed> {
        let part = |bytes: serde_json::Result<Vec<u8>>| bytes.map(|bytes| URL_SAFE_NO_PAD.encode(bytes));
        let header = part(serde_json::to_vec(header)).map_err(|_| SigningFailed)?;
        let payload = part(serde_json::to_vec(claims)).map_err(|_| SigningFailed)?;
        let signed = format!("{header}.{payload}");
        let signature = self.signature(signed.as_bytes())?;
        Ok(format!("{signed}.{signature}"))
    }

    fn signature(&self, message: &[u8]) -> Result<String, SigningFailed> {
        let signer = (DEFAULT_PROVIDER.signer_factory)(&Algorithm::ES256.to_jsonwebtoken(), &self.pkcs8);
        let signature = signer.map_err(|_| SigningFailed)?.try_sign(message).map_err(|_| SigningFailed)?;
        Ok(URL_SAFE_NO_PAD.encode(signature))
    }
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKey").field("kid", &self.kid()).finish_non_exhaustive()
    }
}

fn thumbprint(x: &str, y: &str) -> String {
    jwk::thumbprint(&format!(r#"{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}"#))
}

fn number(jwk: &Value, member: &str) -> Result<Vec<u8>, BadSigningKey> {
    let text = jwk.get(member).and_then(Value::as_str).ok_or(BadSigningKey)?;
    URL_SAFE_NO_PAD.decode(text).map_err(|_| BadSigningKey)
}
