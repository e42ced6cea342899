//! Services that the engine needs from outside: `server` implements them.

use async_trait::async_trait;
use countersign_core::decision::probe::ProbeResponse;
use countersign_jose::KeySet;
use countersign_protocol::{
    aap::identity::IdentityManifest, domain::Domain, ids::ProjectId, project::Upstream, time::UnixMillis,
};
use std::sync::Arc;

/// An operator as its own domain describes it.
#[derive(Clone)]
pub struct KnownOperator {
    pub identity: Arc<IdentityManifest>,
    /// Shared for the same fetch: tokens verified with it need not be verified again.
    pub keys: Arc<KeySet>,
    pub fetched_at: UnixMillis,
}

/// Why nothing is known about an operator. Never a reason to let it in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperatorTrouble {
    /// No identity manifest, or one that is not valid.
    NoManifest(String),
    /// A key set that is none, or a key in it that must not be used.
    BadKeys(String),
    /// The manifest speaks for another domain.
    DomainDiffers,
    UnknownKid,
    Unreachable,
    TooMany {
        retry_after_s: i64,
    },
}

/// Operators by their domain, remembered for at most an hour.
#[async_trait]
pub trait Operators: Send + Sync {
    /// The operator with a key of that id among its keys, fetched again once if need be (AAP 20.1).
    /// `source` is where the request came from: strangers have a budget.
    async fn operator(
        &self,
        domain: &Domain,
        kid: &str,
        now: UnixMillis,
        source: &str,
    ) -> Result<KnownOperator, OperatorTrouble>;

    /// When the operator's set was fetched, within the last hour, if the key is in it.
    async fn last_published(
        &self,
        domain: &Domain,
        kid: &str,
        now: UnixMillis,
    ) -> Result<Option<UnixMillis>, OperatorTrouble>;
}

/// The upstreams of enforcement points, for reads of their own that nobody called for.
#[async_trait]
pub trait UpstreamProbes: Send + Sync {
    /// One GET with the upstream's own credential and nothing of any agent's; no redirect is followed. None without an
    /// answer within the time and size that the implementation allows.
    async fn probe(&self, project: &ProjectId, upstream: &Upstream, path: &str) -> Option<ProbeResponse>;
}
