//! Services that the engine needs from outside: `server` implements them.

use async_trait::async_trait;
use countersign_core::decision::probe::ProbeResponse;
use countersign_jose::KeySet;
use countersign_protocol::{
    aap::identity::IdentityManifest, domain::Domain, ids::ProjectId, project::Upstream, time::UnixMillis,
};
use std::sync::Arc;

/// An operator, as described by its own domain.
#[derive(Clone)]
pub struct KnownOperator {
    pub identity: Arc<IdentityManifest>,
    /// Shared for the same fetch: tokens verified with it need not be verified again.
    pub keys: Arc<KeySet>,
    pub fetched_at: UnixMillis,
}

/// Why an operator could not be verified. Never a reason to let it in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperatorError {
    /// No identity manifest, or one that is not valid.
    NoManifest(String),
    /// An invalid key set, or an unacceptable key in it.
    BadKeys(String),
    /// The manifest is for another domain.
    DomainDiffers,
    UnknownKid,
    Unreachable,
    TooMany {
        retry_after_s: i64,
    },
}

/// Operators by their domain, cached for at most an hour.
#[async_trait]
pub trait Operators: Send + Sync {
    /// The operator with a key of that id, fetched again once if need be (AAP 20.1).
    /// `source` is the origin of the request: fetches for strangers are limited.
    async fn operator(
        &self,
        domain: &Domain,
        kid: &str,
        now: UnixMillis,
        source: &str,
    ) -> Result<KnownOperator, OperatorError>;

    /// The time of the operator's last fetch within an hour, if the key was in it.
    async fn last_published(
        &self,
        domain: &Domain,
        kid: &str,
        now: UnixMillis,
    ) -> Result<Option<UnixMillis>, OperatorError>;

    /// The key set at a URL of a project's document, with a key of that id, fetched again once if need be.
    async fn key_set(&self, _url: &str, _kid: &str, _now: UnixMillis) -> Result<Arc<KeySet>, OperatorError> {
        Err(OperatorError::Unreachable)
    }

    /// One POST to the webhook in the operator's identity manifest, under the guards of R-27 and within 5 s: the status of
    /// the response, or the reason why there is none.
    async fn post_webhook(&self, _: &Domain, _: UnixMillis, _: SignedMessage) -> Result<u16, String> {
        Err("this node delivers no webhooks".into())
    }
}

/// A signed message to a webhook.
pub struct SignedMessage {
    pub headers: [(&'static str, String); 5],
    pub body: Vec<u8>,
}

/// The upstreams of enforcement points, for the engine's own reads.
#[async_trait]
pub trait UpstreamProbes: Send + Sync {
    /// One GET with the upstream's own credential and nothing of any agent's, without redirects. None without a response
    /// within the implementation's limits of time and size.
    async fn probe(&self, project: &ProjectId, upstream: &Upstream, path: &str) -> Option<ProbeResponse>;
}
