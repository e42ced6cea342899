//! Clock skew between the node and the store. Measured now and then, never by a query per call.

use crate::node_clock::MOST_MS;
use std::sync::atomic::{AtomicI64, Ordering};

#[derive(Debug, Default)]
pub(crate) struct ClockSkew {
    measured_ms: AtomicI64,
    /// The last tolerable offset: with a larger one the node goes on by this, and decides nothing.
    offset_ms: AtomicI64,
}

impl ClockSkew {
    pub(crate) fn record(&self, offset_ms: i64) {
        self.measured_ms.store(offset_ms, Ordering::Relaxed);
        if offset_ms.abs() <= MOST_MS {
            self.offset_ms.store(offset_ms, Ordering::Relaxed);
        }
    }

    /// The store's clock minus the node's.
    pub(crate) fn offset_ms(&self) -> i64 {
        self.offset_ms.load(Ordering::Relaxed)
    }

    /// The node's clock skew, if it is too large to decide anything.
    pub(crate) fn excessive_ms(&self) -> Option<i64> {
        Some(self.measured_ms.load(Ordering::Relaxed)).filter(|offset| offset.abs() > MOST_MS)
    }
}
