//! Request ids: the same in the log, in the header and in the envelope.

use std::sync::atomic::{AtomicU64, Ordering};

/// One counter for the whole process: several listeners and layers may start in the same millisecond.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Numbers within a run of the node, prefixed with a part that differs from run to run.
#[derive(Debug)]
pub struct RequestIds {
    run: u64,
}

impl RequestIds {
    pub fn new(run: u64) -> Self {
        Self { run }
    }

    pub fn mint(&self) -> String {
        format!("req_{:016x}{:016x}", self.run, NEXT.fetch_add(1, Ordering::Relaxed))
    }
}
