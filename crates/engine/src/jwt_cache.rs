//! A cache of verified JWTs: the same bytes, for the same service, under the same fetch of the same keys. Delegation
//! tokens are this service's own, so their keys are its own, as last loaded.
//!
//! Only success is cached, and only until the token's own expiry. The core decides anew each time whether its statements
//! still hold.

use crate::keys::KeysInForce;
use countersign_core::refusal::Refusal;
use countersign_jose::KeySet;
use countersign_protocol::{
    facts::{VerifiedGrant, VerifiedOperator, VerifiedReceipt},
    hash::Digest,
    time::UnixMillis,
};
use quick_cache::sync::Cache;
use std::sync::Arc;

const ENTRIES: usize = 20_000;

#[derive(Default)]
pub(crate) struct JwtCache {
    pub(crate) operators: Memory<VerifiedOperator>,
    pub(crate) receipts: Memory<VerifiedReceipt>,
    pub(crate) grants: Memory<VerifiedGrant, KeysInForce>,
}

pub(crate) struct Memory<T, K = KeySet>(Cache<Digest, Arc<CachedRow<T, K>>>);

struct CachedRow<T, K> {
    fact: T,
    keys: Arc<K>,
    until: UnixMillis,
}

impl<T, K> Default for Memory<T, K> {
    fn default() -> Self {
        Self(Cache::new(ENTRIES))
    }
}

impl<T: Clone, K> Memory<T, K> {
    /// The fact in these bytes, if it is cached.
    pub(crate) fn get(&self, jwt: &str, service: &str, keys: &Arc<K>, now: UnixMillis) -> Option<T> {
        let entry = self.0.get(&name(service, jwt))?;
        (now < entry.until && Arc::ptr_eq(&entry.keys, keys)).then(|| entry.fact.clone())
    }

    /// The same: from the cache, or by `verify`, which also returns how long it may be cached.
    pub(crate) fn get_or_verify(
        &self,
        jwt: &str,
        service: &str,
        keys: &Arc<K>,
        now: UnixMillis,
        verify: impl FnOnce() -> Result<(T, UnixMillis), Refusal>,
    ) -> Result<T, Refusal> {
        if let Some(fact) = self.get(jwt, service, keys, now) {
            return Ok(fact);
        }
        let (fact, until) = verify()?;
        self.0.insert(name(service, jwt), Arc::new(CachedRow { fact: fact.clone(), keys: Arc::clone(keys), until }));
        Ok(fact)
    }
}

fn name(service: &str, jwt: &str) -> Digest {
    Digest::of_parts(&[service.as_bytes(), b"\0", jwt.as_bytes()])
}

#[cfg(test)]
mod tests;
