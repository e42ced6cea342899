//! Operators: their identity manifests and keys, fetched when needed, cached for an hour.

mod budget;
mod host;
mod key_sets;
mod registries;
mod unavailable;
mod visit;
mod webhook;

pub use registries::FoundStanding;
pub use unavailable::OperatorUnavailable;
pub use webhook::WebhookError;

use crate::fetch::Fetcher;
use budget::Budget;
use countersign_jose::{KeyPolicy, KeySet, NoKey, VerifyingKey};
use countersign_protocol::{aap::identity::IdentityManifest, domain::Domain, time::UnixMillis};
use host::{Host, Recall};
use key_sets::CachedKeySet;
use quick_cache::sync::Cache;
use registries::CachedRegistry;
use std::sync::Arc;
use tokio::sync::{Mutex, OwnedMutexGuard};
use visit::Visitor;

/// One operator as published at `fetched_at`.
#[derive(Debug)]
pub struct FetchedOperator {
    pub identity: Arc<IdentityManifest>,
    pub keys: Arc<KeySet>,
    /// When the manifest was fetched. The keys are as old, or younger if an unknown `kid` caused another fetch.
    pub fetched_at: UnixMillis,
}

impl FetchedOperator {
    pub fn key(&self, kid: &str) -> Result<&VerifyingKey, OperatorUnavailable> {
        self.keys.find(kid).map_err(|no_key| match no_key {
            NoKey::Unknown => OperatorUnavailable::UnknownKid,
            NoKey::Unusable(_) => OperatorUnavailable::BadKeys { why: no_key.to_string() },
        })
    }
}

#[derive(Clone, Debug)]
pub struct DirectoryConfig {
    pub key_policy: KeyPolicy,
    /// Number of consecutive failures of one host that raises the alert (AAP 20.3).
    pub dark_after: u32,
    /// Maximum number of new operators per minute that one source may cause to be fetched.
    pub new_hosts_a_minute: u32,
    /// Maximum number of cached hosts, with or without a valid manifest.
    pub max_hosts: usize,
}

impl Default for DirectoryConfig {
    fn default() -> Self {
        Self { key_policy: KeyPolicy::default(), dark_after: 3, new_hosts_a_minute: 30, max_hosts: 10_000 }
    }
}

/// Counts since the start, except `dark_hosts`, which is the current number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectoryStats {
    /// Number of fetched documents.
    pub fetches: u64,
    /// Number of failed visits to a host.
    pub failures: u64,
    pub dark_hosts: u64,
}

/// The cached operators.
#[derive(Clone)]
pub struct Directory {
    visitor: Arc<Visitor>,
    hosts: Arc<Cache<Domain, Arc<Host>>>,
    budget: Arc<Budget>,
    /// By URL.
    key_sets: Arc<Cache<String, Arc<Mutex<CachedKeySet>>>>,
    /// By provider.
    registries: Arc<Cache<Domain, Arc<CachedRegistry>>>,
}

impl Directory {
    pub fn new(fetcher: Fetcher, config: DirectoryConfig) -> Self {
        Self {
            hosts: Arc::new(Cache::new(config.max_hosts)),
            key_sets: Arc::new(Cache::new(config.max_hosts)),
            registries: Arc::new(Cache::new(config.max_hosts)),
            budget: Arc::new(Budget::per_minute(config.new_hosts_a_minute)),
            visitor: Arc::new(Visitor::new(fetcher, config)),
        }
    }

    /// The operator at `domain`, with the key `kid` certainly among its keys.
    ///
    /// `source` is charged for the fetch: an IPv4 address, or the /64 of an IPv6 one.
    pub async fn operator(
        &self,
        domain: &Domain,
        kid: &str,
        now: UnixMillis,
        source: &str,
    ) -> Result<Arc<FetchedOperator>, OperatorUnavailable> {
        let host = self.host(domain, now, Some(source))?;
        let operator = self.current(&host, now, Some(source)).await?;
        if operator.key(kid).is_ok() { Ok(operator) } else { self.refetch_keys(&host, kid, now).await }
    }

    /// The identity manifest of the operator at `domain`, for an administrator of this service.
    pub async fn identity(
        &self,
        domain: &Domain,
        now: UnixMillis,
    ) -> Result<Arc<IdentityManifest>, OperatorUnavailable> {
        let operator = self.current(&self.host(domain, now, None)?, now, None).await?;
        Ok(Arc::clone(&operator.identity))
    }

    /// When the operator's key set was fetched, if a key that once verified is still in it; required for a live session
    /// (C-88).
    pub async fn key_last_published(
        &self,
        domain: &Domain,
        kid: &str,
        now: UnixMillis,
    ) -> Result<Option<UnixMillis>, OperatorUnavailable> {
        let operator = self.current(&self.host(domain, now, None)?, now, None).await?;
        Ok(operator.key(kid).is_ok().then_some(operator.fetched_at))
    }

    pub fn stats(&self) -> DirectoryStats {
        let dark = self.hosts.iter().filter(|(_, host)| self.visitor.is_unreachable(host)).count();
        DirectoryStats { dark_hosts: dark as u64, ..self.visitor.stats() }
    }

    /// The cache entry of a host. A source without budget gets no new entry; otherwise random host names would evict
    /// those in use.
    fn host(&self, domain: &Domain, now: UnixMillis, source: Option<&str>) -> Result<Arc<Host>, OperatorUnavailable> {
        if let Some(host) = self.hosts.get(domain) {
            return Ok(host);
        }
        source.map_or(Ok(()), |source| self.budget.allows(source, now))?;
        self.hosts.get_or_insert_with(domain, || Ok(Arc::new(Host::new(domain.clone()))))
    }

    /// The cached operator, or a fresh one. Concurrent callers of one host queue here, and all but the first get the
    /// result of the first (C-68).
    async fn current(
        &self,
        host: &Arc<Host>,
        now: UnixMillis,
        source: Option<&str>,
    ) -> Result<Arc<FetchedOperator>, OperatorUnavailable> {
        if let Recall::Answer(answer) = host.recall(now) {
            return answer;
        }
        let turn = host.lock_fetch().await;
        let new = match host.recall(now) {
            Recall::Answer(answer) => return answer,
            Recall::Fetch { new } => new,
        };
        if let (true, Some(source)) = (new, source) {
            self.budget.charge(source, now)?;
        }
        let (visitor, host) = (Arc::clone(&self.visitor), Arc::clone(host));
        run_detached(turn, async move { visitor.fetch(&host, now).await }).await
    }

    /// An unknown `kid` fetches the key set once more before it is refused (AAP 20.1), if a minute has passed since the
    /// last time (C-69).
    async fn refetch_keys(
        &self,
        host: &Arc<Host>,
        kid: &str,
        now: UnixMillis,
    ) -> Result<Arc<FetchedOperator>, OperatorUnavailable> {
        if let Some(answer) = host.recall_key(kid, now) {
            return answer;
        }
        let turn = host.lock_fetch().await;
        if let Some(answer) = host.recall_key(kid, now) {
            return answer;
        }
        let (visitor, host) = (Arc::clone(&self.visitor), Arc::clone(host));
        let operator = run_detached(turn, async move { visitor.fetch_keys_again(&host, now).await }).await?;
        operator.key(kid)?;
        Ok(operator)
    }
}

/// Completes and caches a fetch even if the caller disconnects, holding the host's lock meanwhile: otherwise
/// disconnecting would bypass the negative cache.
async fn run_detached<F, T>(turn: OwnedMutexGuard<()>, fetch: F) -> Result<T, OperatorUnavailable>
where
    F: Future<Output = Result<T, OperatorUnavailable>> + Send + 'static,
    T: Send + 'static,
{
    let whole = tokio::spawn(async move {
        let _turn = turn;
        fetch.await
    });
    whole.await.unwrap_or_else(|_| Err(OperatorUnavailable::Unreachable { why: "the fetch was broken off".into() }))
}
