//! A cache of verified JWTs: the same bytes, for the same service, under the same fetch of the same keys.
//!
//! Only success is cached, and only until the token's own expiry. The core decides anew each time whether its statements
//! still hold.

use countersign_core::refusal::Refusal;
use countersign_jose::KeySet;
use countersign_protocol::{
    facts::{VerifiedOperator, VerifiedReceipt},
    hash::Digest,
    origin::Origin,
    time::UnixMillis,
};
use quick_cache::sync::Cache;
use std::sync::Arc;

const ENTRIES: usize = 20_000;

#[derive(Default)]
pub(crate) struct JwtCache {
    pub(crate) operators: Memory<VerifiedOperator>,
    pub(crate) receipts: Memory<VerifiedReceipt>,
}

pub(crate) struct Memory<T>(Cache<Digest, Arc<CachedRow<T>>>);

struct CachedRow<T> {
    fact: T,
    keys: Arc<KeySet>,
    until: UnixMillis,
}

impl<T> Default for Memory<T> {
    fn default() -> Self {
        Self(Cache::new(ENTRIES))
    }
}

impl<T: Clone> Memory<T> {
    /// The fact in these bytes: from the cache, or by `verify`, which also returns how long it may be cached.
    pub(crate) fn get_or_verify(
        &self,
        jwt: &str,
        service: &Origin,
        keys: &Arc<KeySet>,
        now: UnixMillis,
        verify: impl FnOnce() -> Result<(T, UnixMillis), Refusal>,
    ) -> Result<T, Refusal> {
        let name = Digest::of_parts(&[service.as_str().as_bytes(), b"\0", jwt.as_bytes()]);
        if let Some(entry) = self.0.get(&name)
            && now < entry.until
            && Arc::ptr_eq(&entry.keys, keys)
        {
            return Ok(entry.fact.clone());
        }
        let (fact, until) = verify()?;
        self.0.insert(name, Arc::new(CachedRow { fact: fact.clone(), keys: Arc::clone(keys), until }));
        Ok(fact)
    }
}
