//! Limits the number of new operators that one source may cause to be fetched.

#[cfg(test)]
mod tests;

use super::OperatorUnavailable;
use countersign_protocol::time::UnixMillis;
use quick_cache::sync::Cache;
use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

/// Number of tracked sources. An evicted source merely gets a full budget again.
const SOURCES: usize = 10_000;
const MINUTE: i64 = 60_000;

/// GCRA: a source is one number, the time at which its budget is full again.
pub(super) struct Budget {
    millis_each: i64,
    earned_back: Cache<String, Arc<AtomicI64>>,
}

impl Budget {
    pub(super) fn per_minute(hosts: u32) -> Self {
        Self { millis_each: MINUTE / i64::from(hosts.max(1)), earned_back: Cache::new(SOURCES) }
    }

    /// Whether the source has budget left.
    pub(super) fn allows(&self, source: &str, now: UnixMillis) -> Result<(), OperatorUnavailable> {
        self.charged(self.balance(source).load(Ordering::Acquire), now).map(|_| ())
    }

    pub(super) fn charge(&self, source: &str, now: UnixMillis) -> Result<(), OperatorUnavailable> {
        let next = |back| self.charged(back, now).ok();
        let spent = self.balance(source).fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
        spent.or_else(|back| self.charged(back, now)).map(|_| ())
    }

    fn charged(&self, earned_back: i64, now: UnixMillis) -> Result<i64, OperatorUnavailable> {
        let next = earned_back.max(now.0).saturating_add(self.millis_each);
        match next.saturating_sub(now.0.saturating_add(MINUTE)) {
            ..=0 => Ok(next),
            wait => Err(OperatorUnavailable::TooMany { retry_after: wait.unsigned_abs().div_ceil(1000) }),
        }
    }

    fn balance(&self, source: &str) -> Arc<AtomicI64> {
        let fresh = || Ok::<_, std::convert::Infallible>(Arc::new(AtomicI64::new(i64::MIN)));
        self.earned_back.get_or_insert_with(source, fresh).unwrap_or_else(|never| match never {})
    }
}
