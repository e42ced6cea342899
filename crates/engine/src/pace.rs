//! How far the node's clock is from the store's. Measured now and then, never by a query a call.

use crate::node_clock::MOST_MS;
use std::sync::atomic::{AtomicI64, Ordering};

#[derive(Debug, Default)]
pub(crate) struct Pace {
    measured_ms: AtomicI64,
    /// The last one that was not too much: a node that is too far off goes on by it, and decides nothing.
    offset_ms: AtomicI64,
}

impl Pace {
    pub(crate) fn measured(&self, offset_ms: i64) {
        self.measured_ms.store(offset_ms, Ordering::Relaxed);
        if offset_ms.abs() <= MOST_MS {
            self.offset_ms.store(offset_ms, Ordering::Relaxed);
        }
    }

    /// The store's clock minus the node's.
    pub(crate) fn offset_ms(&self) -> i64 {
        self.offset_ms.load(Ordering::Relaxed)
    }

    /// How far off the node is, if that is too much to decide anything.
    pub(crate) fn off_ms(&self) -> Option<i64> {
        Some(self.measured_ms.load(Ordering::Relaxed)).filter(|offset| offset.abs() > MOST_MS)
    }
}
