//! The limit cache: about where the counters of limits stand, as far as this node has moved them itself.
//!
//! The step of each call judges the limits, for all nodes. The cache only spares the upstream, and the store, a call that
//! would be refused afterwards: it may know less than the store, never more.

use countersign_core::{aap::access::CountedLimits, step::Count};
use quick_cache::sync::Cache;
use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

const REMEMBERED: usize = 50_000;

pub(crate) struct LimitCache(Cache<String, Arc<AtomicI64>>);

impl Default for LimitCache {
    fn default() -> Self {
        Self(Cache::new(REMEMBERED))
    }
}

impl LimitCache {
    /// Whether a counter certainly had room at its last reading; none without one.
    pub(crate) fn has_room(&self, count: &Count) -> Option<bool> {
        self.0.get(count.key.as_str()).map(|stands| stands.load(Ordering::Relaxed) <= count.limit)
    }

    pub(crate) fn set(&self, key: &str, stands: i64) {
        match self.0.get(key) {
            Some(known) => known.store(stands, Ordering::Relaxed),
            None => self.0.insert(key.to_owned(), Arc::new(AtomicI64::new(stands))),
        }
    }

    /// Drops these counters, to be read again: the store refused one of them, so another node has moved it, or they were
    /// moved by an amount not known beforehand.
    pub(crate) fn forget<'a>(&self, counts: impl IntoIterator<Item = &'a Count>) {
        for count in counts {
            self.0.remove(count.key.as_str());
        }
    }

    /// A step with these counters was committed.
    pub(crate) fn add(&self, counted: &CountedLimits) {
        for count in counted.iter().filter(|count| count.by != 0) {
            if let Some(stands) = self.0.get(count.key.as_str()) {
                stands.fetch_add(count.by, Ordering::Relaxed);
            }
        }
    }
}
