//! The registries of model providers (AAP 4.2): fetched when trust tier 4 needs one, cached for an hour.

use super::{Directory, OperatorUnavailable, run_detached};
use countersign_protocol::{
    aap::registry::{OperatorRegistry, OperatorStanding},
    domain::Domain,
    time::UnixMillis,
};
use std::sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError};
use tokio::sync::Mutex;

/// As long as an operator's keys, so that a dropped operator is refused within the hour.
const TTL: i64 = 3_600_000;
/// A failed provider is not contacted again for a minute (C-68).
const REST: i64 = 60_000;

/// An operator's standing, and the age of the oldest document that it was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundStanding {
    /// None: no registry lists the operator.
    pub standing: Option<OperatorStanding>,
    pub fetched_at: UnixMillis,
}

/// The lock for fetching, and the last results.
#[derive(Default)]
pub(super) struct CachedRegistry {
    turn: Arc<Mutex<()>>,
    last: StdMutex<LastFetches>,
}

/// The registry as last read, at any age, and the failure since.
#[derive(Default)]
struct LastFetches {
    read: Option<(UnixMillis, Arc<OperatorRegistry>)>,
    failed: Option<(UnixMillis, OperatorUnavailable)>,
}

impl CachedRegistry {
    fn recall(&self, now: UnixMillis) -> Option<FetchedRegistry> {
        let last = self.last();
        match (&last.read, &last.failed) {
            (Some((at, registry)), _) if now.millis_since(*at) <= TTL => Some(Ok((*at, Arc::clone(registry)))),
            (_, Some((at, why))) if now.millis_since(*at) < REST => Some(Err(why.clone())),
            _ => None,
        }
    }

    fn remember(&self, now: UnixMillis, fetched: &Result<Arc<OperatorRegistry>, OperatorUnavailable>) {
        let mut last = self.last();
        match fetched {
            Ok(registry) => *last = LastFetches { read: Some((now, Arc::clone(registry))), failed: None },
            Err(why) => last.failed = Some((now, why.clone())),
        }
    }

    /// A suspension lasts until the registry was read without it: a provider that cannot be read lifts nothing.
    fn known_suspension(&self, operator: &Domain) -> Option<OperatorStanding> {
        let last = self.last();
        last.read.as_ref()?.1.standing(operator).filter(|standing| *standing > OperatorStanding::Good)
    }

    fn last(&self) -> MutexGuard<'_, LastFetches> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type FetchedRegistry = Result<(UnixMillis, Arc<OperatorRegistry>), OperatorUnavailable>;

impl Directory {
    /// The operator's standing with those of `providers` that its own manifest names. No other registry is fetched: the
    /// service chooses the judges, and `provider_registry_urls` of the operator are not read (C-100).
    ///
    /// A suspension anywhere counts. Without one, an unreadable registry is an error, because it might have one; then good
    /// standing anywhere counts.
    pub async fn standing(
        &self,
        operator: &Domain,
        providers: &[Domain],
        now: UnixMillis,
    ) -> Result<FoundStanding, OperatorUnavailable> {
        let published = self.current(&self.host(operator, now, None)?, now, None).await?;
        let named = providers.iter().filter(|provider| published.identity.model_providers.contains(provider));
        let (mut found, mut unread) = (FoundStanding { standing: None, fetched_at: published.fetched_at }, None);
        for provider in named {
            let cached: Arc<CachedRegistry> =
                self.registries.get_or_insert_with(provider, || Ok::<_, OperatorUnavailable>(Arc::default()))?;
            match self.registry(provider, &cached, now).await {
                Ok((fetched_at, registry)) => {
                    found.standing = found.standing.max(registry.standing(operator));
                    found.fetched_at = found.fetched_at.min(fetched_at);
                }
                Err(why) => {
                    found.standing = found.standing.max(cached.known_suspension(operator));
                    unread = Some(why);
                }
            }
        }
        match (found.standing, unread) {
            (None | Some(OperatorStanding::Good), Some(why)) => Err(why),
            _ => Ok(found),
        }
    }

    async fn registry(&self, provider: &Domain, cached: &Arc<CachedRegistry>, now: UnixMillis) -> FetchedRegistry {
        if let Some(answer) = cached.recall(now) {
            return answer;
        }
        let turn = Arc::clone(&cached.turn).lock_owned().await;
        if let Some(answer) = cached.recall(now) {
            return answer;
        }
        let (visitor, provider, cached) = (Arc::clone(&self.visitor), provider.clone(), Arc::clone(cached));
        let fetch = async move {
            let fetched = visitor.registry_of(&provider).await.map(Arc::new);
            if let Err(why) = &fetched {
                tracing::warn!(%provider, %why, "the registry of a model provider cannot be read");
            }
            cached.remember(now, &fetched);
            fetched.map(|registry| (now, registry))
        };
        run_detached(turn, fetch).await
    }
}
