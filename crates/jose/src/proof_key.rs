//! An agent's key for one session, and its DPoP proofs (AAP 18.1, 18.3).

use crate::{BadSigningKey, SigningFailed, SigningKey};
use aws_lc_rs::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_protocol::aap::dpop::{ProofClaims, TYP};
use countersign_protocol::{hash::Digest, time::UnixMillis};
use serde_json::json;
use std::sync::Arc;

/// A P-256 key pair. Its private half is never printed, and lives only as long as its session.
#[derive(Clone)]
pub struct ProofKey {
    pair: Arc<EcdsaKeyPair>,
    jkt: Digest,
    /// The encoded header, the same in every proof.
    header: Arc<str>,
}

impl ProofKey {
    pub fn generate() -> Result<Self, BadSigningKey> {
        Self::of(&SigningKey::generate(None)?)
    }

    pub fn from_pkcs8(pkcs8: &[u8]) -> Result<Self, BadSigningKey> {
        Self::of(&SigningKey::from_pkcs8(None, pkcs8)?)
    }

    fn of(key: &SigningKey) -> Result<Self, BadSigningKey> {
        let public = key.public_jwk();
        let jwk = json!({ "kty": "EC", "crv": "P-256", "x": public.x, "y": public.y });
        let header = json!({ "typ": TYP, "alg": "ES256", "jwk": jwk }).to_string();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &key.to_pkcs8());
        Ok(Self {
            pair: Arc::new(pair.map_err(|_| BadSigningKey)?),
            jkt: Digest::from_base64url(&key.thumbprint()).ok_or(BadSigningKey)?,
            header: URL_SAFE_NO_PAD.encode(header).into(),
        })
    }

    /// RFC 7638, SHA-256; tokens are bound to it.
    pub fn jkt(&self) -> &Digest {
        &self.jkt
    }

    /// A proof for one request. Query and fragment of the URL are left out; without a token there is no `ath`.
    pub fn proof(
        &self,
        method: &str,
        url: &str,
        token: Option<&str>,
        nonce: Option<&str>,
        jti: &str,
        iat: UnixMillis,
    ) -> Result<String, SigningFailed> {
        let htu = url.split_once(['?', '#']).map_or(url, |(before, _)| before);
        let ath = token.map(|token| Digest::of(token.as_bytes()).base64url());
        let claims = ProofClaims { jti, htm: method, htu, iat: iat.secs(), ath: ath.as_deref(), nonce };
        let payload = serde_json::to_vec(&claims).map_err(|_| SigningFailed)?;
        let signed = format!("{}.{}", self.header, URL_SAFE_NO_PAD.encode(payload));
        let signature = self.pair.sign(&SystemRandom::new(), signed.as_bytes()).map_err(|_| SigningFailed)?;
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}

impl std::fmt::Debug for ProofKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProofKey").field("jkt", &self.jkt.base64url()).finish_non_exhaustive()
    }
}
