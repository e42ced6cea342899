//! Fetches a host's documents, or the reason why they are unavailable.

use super::{DirectoryConfig, DirectoryStats, FetchedOperator, OperatorUnavailable, host::Host};
use crate::{
    exchange::Request,
    fetch::{FetchError, Fetcher},
};
use bytes::Bytes;
use countersign_jose::KeySet;
use countersign_protocol::{
    aap::{
        identity::{self, HttpsUri, IdentityManifest},
        registry::{self, OperatorRegistry},
    },
    domain::Domain,
    time::UnixMillis,
};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// Fetches from hosts, updates their cache entries, and counts.
pub(super) struct Visitor {
    fetcher: Fetcher,
    config: DirectoryConfig,
    fetches: AtomicU64,
    failures: AtomicU64,
}

impl Visitor {
    pub(super) fn new(fetcher: Fetcher, config: DirectoryConfig) -> Self {
        Self { fetcher, config, fetches: AtomicU64::new(0), failures: AtomicU64::new(0) }
    }

    /// Fetches manifest and keys.
    pub(super) async fn fetch(
        &self,
        host: &Host,
        now: UnixMillis,
    ) -> Result<Arc<FetchedOperator>, OperatorUnavailable> {
        let outcome = self.fetch_both(host.domain(), now).await.map(Arc::new);
        match &outcome {
            Ok(operator) => host.store(Arc::clone(operator)),
            Err(why) => self.failed(host, host.store_failure(now, why.clone()), why),
        }
        outcome
    }

    /// Fetches the keys alone, at the URL in the cached manifest.
    pub(super) async fn fetch_keys_again(
        &self,
        host: &Host,
        now: UnixMillis,
    ) -> Result<Arc<FetchedOperator>, OperatorUnavailable> {
        let Some(known) = host.known() else { return Err(OperatorUnavailable::UnknownKid) };
        match self.fetch_keys(&known.identity.signing_keys).await {
            Ok(keys) => {
                let identity = known.identity.clone();
                let operator =
                    Arc::new(FetchedOperator { identity, keys: Arc::new(keys), fetched_at: known.fetched_at });
                host.store_keys(now, Arc::clone(&operator));
                Ok(operator)
            }
            Err(why) => {
                self.failed(host, host.store_keys_failure(now, why.clone()), &why);
                Err(why)
            }
        }
    }

    pub(super) fn is_unreachable(&self, host: &Host) -> bool {
        host.failures_in_a_row() >= self.config.dark_after
    }

    pub(super) fn stats(&self) -> DirectoryStats {
        DirectoryStats {
            fetches: self.fetches.load(Ordering::Relaxed),
            failures: self.failures.load(Ordering::Relaxed),
            dark_hosts: 0,
        }
    }

    async fn fetch_both(&self, domain: &Domain, now: UnixMillis) -> Result<FetchedOperator, OperatorUnavailable> {
        let identity = self.fetch_identity(domain).await?;
        let keys = self.fetch_keys(&identity.signing_keys).await?;
        Ok(FetchedOperator { identity: Arc::new(identity), keys: Arc::new(keys), fetched_at: now })
    }

    async fn fetch_identity(&self, domain: &Domain) -> Result<IdentityManifest, OperatorUnavailable> {
        let url = format!("https://{domain}{}", identity::PATH);
        let bytes = self.get(&url).await.map_err(OperatorUnavailable::of_the_manifest)?;
        // The domain is checked first: a foreign manifest is a different refusal from a faulty one (AAP 4.1 step 4).
        match identity::claimed_domain(&bytes) {
            Ok(claimed) if claimed != *domain => Err(OperatorUnavailable::DomainDiffers { claimed }),
            _ => IdentityManifest::parse(&bytes).map_err(|e| OperatorUnavailable::NoManifest { why: e.to_string() }),
        }
    }

    async fn fetch_keys(&self, url: &HttpsUri) -> Result<KeySet, OperatorUnavailable> {
        self.keys_at(url.as_str()).await
    }

    pub(super) async fn keys_at(&self, url: &str) -> Result<KeySet, OperatorUnavailable> {
        let bytes = self.get(url).await.map_err(OperatorUnavailable::of_the_keys)?;
        KeySet::parse(&bytes, &self.config.key_policy).map_err(|e| OperatorUnavailable::BadKeys { why: e.to_string() })
    }

    pub(super) async fn registry_of(&self, provider: &Domain) -> Result<OperatorRegistry, OperatorUnavailable> {
        let url = format!("https://{provider}{}", registry::PATH);
        let bytes = self.get(&url).await.map_err(OperatorUnavailable::of_the_registry)?;
        OperatorRegistry::parse(&bytes).map_err(|e| OperatorUnavailable::BadRegistry { why: e.to_string() })
    }

    async fn get(&self, url: &str) -> Result<Bytes, FetchError> {
        self.fetches.fetch_add(1, Ordering::Relaxed);
        self.fetcher.get_json(url).await
    }

    /// The status of the response; its body is of no use, and is not read.
    pub(super) async fn post(&self, request: Request) -> Result<u16, FetchError> {
        self.fetcher.open(request).await.map(|response| response.status.as_u16())
    }

    /// The status and the body of the response.
    pub(super) async fn post_for_body(&self, request: Request) -> Result<(u16, Vec<u8>), FetchError> {
        self.fetcher.request(request).await.map(|response| (response.status.as_u16(), response.body.to_vec()))
    }

    /// One alert per outage: it is written when the count is reached, and again only after a success in between.
    fn failed(&self, host: &Host, in_a_row: u32, why: &OperatorUnavailable) {
        self.failures.fetch_add(1, Ordering::Relaxed);
        if in_a_row == self.config.dark_after {
            tracing::warn!(
                operator = %host.domain(), failures = in_a_row, last = %why,
                "an operator is repeatedly unreachable"
            );
        }
    }
}
