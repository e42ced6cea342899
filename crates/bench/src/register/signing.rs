//! Registrations signed ahead: by the operator, and each with a proof of the session's own key.

use super::serving::SigningMaterial;
use crate::load::{HttpRequest, RequestSource};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use countersign_jose::{ProofKey, SigningKey};
use countersign_protocol::{
    aap::{consent_receipt, operator_jwt},
    hash::Digest,
    time::UnixMillis,
};
use http::Request;
use http_body_util::Full;
use serde_json::{Value, json};

/// Sessions that register by turns, and the receipts of each: a session may have 64 in all.
const SESSIONS: usize = 500;
const RECEIPTS: usize = 32;
/// Different bodies that are sent again and again: more than are in flight, and few enough to be remembered.
pub(super) const REPEATED: usize = 256;

const PATH: &str = "/agent/register";

/// The bytes of operator JWT and receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JwtBytes {
    Fresh,
    Repeated,
}

pub(super) struct RegistrationSigner {
    bytes: JwtBytes,
    address: String,
    url: String,
    nonce: String,
    operator: SigningKey,
    operator_claims: Value,
    receipt_claims: Value,
    delegation_token: String,
    now: UnixMillis,
    has_proofs: bool,
    /// The key of each session (AAP 18.1).
    keys: Vec<ProofKey>,
    /// The bodies to repeat.
    bodies: Vec<Bytes>,
    next: usize,
}

impl RequestSource for RegistrationSigner {
    fn ahead(&mut self, count: usize) -> anyhow::Result<Vec<HttpRequest>> {
        (0..count).map(|_| self.next()).collect()
    }
}

impl RegistrationSigner {
    pub(super) fn new(
        address: &str,
        told: &SigningMaterial,
        bytes: JwtBytes,
        has_proofs: bool,
    ) -> anyhow::Result<Self> {
        let pkcs8 = STANDARD.decode(&told.operator_pkcs8)?;
        Ok(Self {
            bytes,
            address: address.to_owned(),
            url: format!("{}{PATH}", told.service),
            nonce: told.nonce.clone(),
            operator: SigningKey::from_pkcs8(Some(&told.operator_kid), &pkcs8)?,
            operator_claims: told.operator_claims.clone(),
            receipt_claims: told.receipt_claims.clone(),
            delegation_token: told.delegation_token.clone(),
            now: UnixMillis(told.now_ms),
            has_proofs,
            keys: Vec::new(),
            bodies: Vec::new(),
            next: 0,
        })
    }

    fn next(&mut self) -> anyhow::Result<HttpRequest> {
        let n = self.next;
        self.next += 1;
        let (session, body) = match self.bytes {
            JwtBytes::Fresh => {
                let session = n / (SESSIONS * RECEIPTS) * SESSIONS + n % SESSIONS;
                (session, self.body(session, n)?)
            }
            JwtBytes::Repeated => {
                if self.bodies.len() <= n % REPEATED {
                    self.bodies.push(self.body(n, n)?);
                }
                (n % REPEATED, self.bodies[n % REPEATED].clone())
            }
        };
        self.request(session, n, body)
    }

    fn body(&self, session: usize, jti: usize) -> anyhow::Result<Bytes> {
        let (mut jwt, mut receipt) = (self.operator_claims.clone(), self.receipt_claims.clone());
        jwt["jti"] = json!(jti);
        receipt["jti"] = json!(jti);
        receipt["session_id"] = json!(format!("sess_{}", Digest::of(&session.to_be_bytes()).hex()));
        let body = json!({
            "mode": "user_delegated",
            "operator_jwt": self.operator.sign(operator_jwt::TYP, &jwt)?,
            "delegation_token": self.delegation_token,
            "consent_receipt": self.operator.sign(consent_receipt::TYP, &receipt)?,
        });
        Ok(body.to_string().into())
    }

    fn request(&mut self, session: usize, n: usize, body: Bytes) -> anyhow::Result<HttpRequest> {
        let mut request = Request::post(PATH)
            .header("host", &self.address)
            .header("aap-version", "2.0")
            .header("content-type", "application/json");
        if self.has_proofs {
            while self.keys.len() <= session {
                self.keys.push(ProofKey::generate()?);
            }
            let (nonce, jti) = (Some(self.nonce.as_str()), format!("{n:032x}"));
            let proof = self.keys[session].proof("POST", &self.url, None, nonce, &jti, self.now)?;
            request = request.header("dpop", proof);
        }
        Ok(request.body(Full::from(body))?)
    }
}
