//! An agent that holds the key of its session, and its requests.

use countersign_jose::ProofKey;
use countersign_protocol::time::UnixMillis;
use std::sync::{
    Mutex,
    atomic::{AtomicU64, Ordering},
};

/// One request to the gateway.
#[derive(Clone, Debug)]
pub struct GatewayRequest {
    pub method: String,
    /// Path and query.
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl GatewayRequest {
    pub fn new(method: &str, target: &str) -> Self {
        Self { method: method.into(), target: target.into(), headers: Vec::new(), body: Vec::new() }
    }

    pub fn json(self, body: impl Into<String>) -> Self {
        let body: String = body.into();
        Self { body: body.into_bytes(), ..self }.with("content-type", "application/json")
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The headers that name delegation and session.
    pub fn of_session(self, agent: &Holder) -> Self {
        self.with("x-agent-mode", "user_delegated")
            .with("x-agent-delegation", &agent.delegation_id)
            .with("x-agent-session", &agent.session_id)
    }

    /// `X-Agent-Confirm`
    pub fn confirmed(self, how: &str) -> Self {
        self.with("x-agent-confirm", how)
    }

    pub fn waits(self, seconds: u32) -> Self {
        self.with("prefer", &format!("wait={seconds}"))
    }
}

/// A session, its token, and the key that the token is bound to, if any.
pub struct Holder {
    pub access_token: String,
    pub session_id: String,
    pub delegation_id: String,
    pub key: Option<ProofKey>,
    pub(super) nonce: Mutex<Option<String>>,
    pub(super) jti: AtomicU64,
}

impl Holder {
    /// A proof for exactly this request, unique each time.
    pub fn proof(&self, method: &str, url: &str, now: UnixMillis) -> Option<String> {
        let jti = format!("jti-{}-{}", self.session_id, self.jti.fetch_add(1, Ordering::Relaxed));
        self.proof_named(&jti, method, url, now)
    }

    /// A proof with a `jti` of the test's own.
    pub fn proof_named(&self, jti: &str, method: &str, url: &str, now: UnixMillis) -> Option<String> {
        let nonce = self.nonce.lock().unwrap().clone();
        let key = self.key.as_ref()?;
        Some(key.proof(method, url, Some(&self.access_token), nonce.as_deref(), jti, now).expect("a proof"))
    }

    pub fn authorization(&self) -> String {
        let scheme = if self.key.is_some() { "DPoP" } else { "Bearer" };
        format!("{scheme} {}", self.access_token)
    }

    /// Stores the nonce of a response.
    pub fn takes_nonce(&self, nonce: Option<&str>) {
        if let Some(nonce) = nonce {
            *self.nonce.lock().unwrap() = Some(nonce.to_owned());
        }
    }
}
