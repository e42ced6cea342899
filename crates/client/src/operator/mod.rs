//! The operator's side: a domain, its keys, and asking people for consent.

mod consent;
mod identity;
mod key_ring;
mod receipt;

pub use consent::{
    ConsentDesk, IntentStore, KeptIntent, NotIssued, NotKept, NotProposable, Proposal, Task, USUAL_LIMITS,
};
pub use identity::{JWKS_PATH, OperatorIdentity};
pub use key_ring::{BadKeyRing, KeyRing, OVERLAP_SECS};
pub use receipt::Receipt;

use countersign_jose::{BadSigningKey, NotSealed, Sealer, SigningFailed};
use countersign_protocol::{
    aap::{
        consent_receipt::{self, NewReceipt},
        identity::{self as identity_document, IdentityManifest, NotAnIdentity},
        operator_jwt::{self, OperatorClaims},
    },
    domain::Domain,
    time::UnixMillis,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The lifetime of an operator JWT: enough for one request and some clock skew.
pub const JWT_LIFE_SECS: i64 = 300;

/// An operator: its identity and the keys that prove it. Cheap to clone; all clones share the keys.
#[derive(Clone, Debug)]
pub struct OperatorKeys {
    identity: Arc<IdentityManifest>,
    keys: Arc<Mutex<KeyRing>>,
}

/// A document to be served as `application/json` below `https://{domain}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedDocument {
    pub path: &'static str,
    pub body: Vec<u8>,
}

impl OperatorKeys {
    /// Rejects an identity that services would refuse.
    pub fn new(identity: &OperatorIdentity, keys: KeyRing) -> Result<Self, NotAnIdentity> {
        Ok(Self { identity: Arc::new(identity.manifest()?), keys: Arc::new(Mutex::new(keys)) })
    }

    /// The domain is the identity; the name is only a name (AAP 13.2).
    pub fn domain(&self) -> &Domain {
        &self.identity.domain
    }

    pub fn identity(&self) -> &IdentityManifest {
        &self.identity
    }

    /// The documents that the operator's domain must serve now: its identity, and the public halves of its keys (AAP 4,
    /// 20.2).
    pub fn documents(&self, now: UnixMillis) -> [ServedDocument; 2] {
        let identity = serde_json::json!(*self.identity);
        let keys = serde_json::json!(self.keys().published(now));
        [
            ServedDocument { path: identity_document::PATH, body: identity.to_string().into_bytes() },
            ServedDocument { path: JWKS_PATH, body: keys.to_string().into_bytes() },
        ]
    }

    /// States that an agent is this operator's own, to exactly one service: `service` as its manifest spells it.
    pub fn operator_jwt(&self, service: &str, now: UnixMillis) -> Result<String, SigningFailed> {
        let (iat, exp) = (now.secs(), now.secs() + JWT_LIFE_SECS);
        let claims = OperatorClaims { iss: self.domain().clone(), aud: service.to_owned(), iat, exp, kid: None };
        self.keys().sign(operator_jwt::TYP, &claims, exp)
    }

    /// Signs with a new key from now on; the old one stays published for the overlap (AAP 20.2).
    pub fn rotate(&self, now: UnixMillis) -> Result<(), BadSigningKey> {
        self.keys().rotate(now)
    }

    /// Forgets keys after their overlap.
    pub fn tick(&self, now: UnixMillis) {
        self.keys().tick(now);
    }

    /// Withdraws every key but the current one at once, when an old one may have been stolen.
    pub fn withdraw_old_keys(&self) {
        self.keys().withdraw_old();
    }

    /// The keys, sealed for storage. [`KeyRing::open`] restores them.
    pub fn seal_keys(&self, sealer: &Sealer) -> Result<String, NotSealed> {
        self.keys().seal(sealer)
    }

    fn sign_receipt(&self, receipt: &NewReceipt) -> Result<String, SigningFailed> {
        self.keys().sign(consent_receipt::TYP, receipt, receipt.claims.exp)
    }

    fn keys(&self) -> MutexGuard<'_, KeyRing> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
