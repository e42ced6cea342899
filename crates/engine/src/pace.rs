//! How far the node's clock is from the store's. Measured now and then, never by a query a call.

use std::sync::atomic::{AtomicI64, Ordering};

/// A node further off than this must not decide anything.
const MOST_MS: i64 = 1000;

#[derive(Debug, Default)]
pub(crate) struct Pace {
    offset_ms: AtomicI64,
}

impl Pace {
    /// Remembers an offset; whether it is too much.
    pub(crate) fn measured(&self, offset_ms: i64) -> bool {
        self.offset_ms.store(offset_ms, Ordering::Relaxed);
        self.is_off()
    }

    /// What to add to the node's clock to get the store's.
    pub(crate) fn offset_ms(&self) -> i64 {
        self.offset_ms.load(Ordering::Relaxed)
    }

    pub(crate) fn is_off(&self) -> bool {
        self.offset_ms().abs() > MOST_MS
    }
}
