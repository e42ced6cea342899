//! Key sets at configured URLs, such as those of a transmitter of security events: fetched like an operator's keys, and
//! cached as long.

use super::{Directory, OperatorUnavailable};
use countersign_jose::{KeySet, NoKey};
use countersign_protocol::time::UnixMillis;
use std::sync::Arc;
use tokio::sync::Mutex;

/// Keys are used for at most an hour.
const TTL: i64 = 3_600_000;
/// A URL is fetched at most once a minute, also for unknown kids (C-69).
const BETWEEN_FETCHES: i64 = 60_000;

#[derive(Default)]
pub(super) struct CachedKeySet {
    keys: Option<(UnixMillis, Arc<KeySet>)>,
    tried_at: Option<UnixMillis>,
}

impl Directory {
    /// The keys at a URL of the configuration, with the key `kid` certainly among them.
    pub async fn key_set(&self, url: &str, kid: &str, now: UnixMillis) -> Result<Arc<KeySet>, OperatorUnavailable> {
        let cached: Arc<Mutex<CachedKeySet>> =
            self.key_sets.get_or_insert_with(url, || Ok::<_, OperatorUnavailable>(Arc::default()))?;
        let mut cached = cached.lock().await;
        let fresh = cached.keys.as_ref().filter(|(at, _)| now.millis_since(*at) <= TTL).map(|(_, keys)| keys);
        if let Some(keys) = fresh.filter(|keys| !matches!(keys.find(kid), Err(NoKey::Unknown))) {
            return Ok(Arc::clone(keys));
        }
        if cached.tried_at.is_some_and(|at| now.millis_since(at) < BETWEEN_FETCHES) {
            let why = "the keys could not be fetched a moment ago".to_owned();
            return Err(fresh.map_or(OperatorUnavailable::Unreachable { why }, |_| OperatorUnavailable::UnknownKid));
        }
        // Before the fetch: a caller that hangs up does not make the next one fetch at once.
        cached.tried_at = Some(now);
        let keys = Arc::new(self.visitor.keys_at(url).await?);
        cached.keys = Some((now, Arc::clone(&keys)));
        match keys.find(kid) {
            Err(NoKey::Unknown) => Err(OperatorUnavailable::UnknownKid),
            _ => Ok(keys),
        }
    }
}
