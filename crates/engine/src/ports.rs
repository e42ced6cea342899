//! Services that the engine needs from outside: `server` implements them.

use crate::calls::UpstreamError;
use async_trait::async_trait;
use countersign_core::{decision::probe::ProbeResponse, records::SeenStanding, refusal::Refusal};
use countersign_jose::KeySet;
use countersign_protocol::{
    aap::identity::IdentityManifest,
    domain::Domain,
    ids::{ProjectId, RowKey},
    project::Upstream,
    time::UnixMillis,
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

    /// The operator's identity manifest, for an administrator: without a key to look for, and without a limit on fetches.
    async fn identity(&self, _: &Domain, _: UnixMillis) -> Result<Arc<IdentityManifest>, OperatorError> {
        Err(OperatorError::Unreachable)
    }

    /// The time of the operator's last fetch within an hour, if the key was in it.
    async fn last_published(
        &self,
        domain: &Domain,
        kid: &str,
        now: UnixMillis,
    ) -> Result<Option<UnixMillis>, OperatorError>;

    /// The operator's standing in the registries of those of these providers that its manifest names, each cached for at
    /// most an hour (AAP 4.2). An error if one of them could not be read,
    /// unless another one suspends the operator.
    async fn standing(&self, _: &Domain, _providers: &[Domain], _: UnixMillis) -> Result<SeenStanding, OperatorError> {
        Err(OperatorError::Unreachable)
    }

    /// The key set at a URL of a project's document, with a key of that id, fetched again once if need be.
    async fn key_set(&self, _url: &str, _kid: &str, _now: UnixMillis) -> Result<Arc<KeySet>, OperatorError> {
        Err(OperatorError::Unreachable)
    }

    /// One POST of a checkpoint to a configured witness of the log, under the guards of R-27 and within 5 s: status and body
    /// of the response, or the reason why there is none.
    async fn show_witness(&self, _url: &str, _body: Vec<u8>) -> Result<(u16, Vec<u8>), String> {
        Err("this node has no client for witnesses".into())
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

/// The upstreams of enforcement points, for the engine's own requests: reads about lost outcomes, and the undoing of
/// committed calls (AAP 17.7).
#[async_trait]
pub trait UpstreamRequests: Send + Sync {
    /// One GET with the upstream's own credential and nothing of any agent's, without redirects. None without a response
    /// within the implementation's limits of time and size.
    async fn probe(&self, project: &ProjectId, upstream: &Upstream, path: &str) -> Option<ProbeResponse>;

    /// One request that undoes a call, under the same rules and without a body. An error if nothing was sent, None without
    /// a response.
    async fn cancel(
        &self,
        project: &ProjectId,
        upstream: &Upstream,
        method: &str,
        path: &str,
    ) -> Result<Option<ProbeResponse>, UpstreamError>;
}

/// An enforcement point that sends held calls when their undo window has closed (AAP 14.1).
#[async_trait]
pub trait QueuedSender: Send + Sync {
    /// Lets [`Calls::carry_out_queued`](crate::Calls::carry_out_queued) send the held call of this allowance.
    async fn send(&self, allowance: RowKey) -> Result<(), Refusal>;
}
