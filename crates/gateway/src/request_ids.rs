//! Names for requests: the same in the log, in the header and in the envelope.

use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers within a run of the node, behind a part that differs from run to run.
#[derive(Debug)]
pub struct RequestIds {
    run: u64,
    next: AtomicU64,
}

impl RequestIds {
    pub fn new(run: u64) -> Self {
        Self { run, next: AtomicU64::new(1) }
    }

    pub fn mint(&self) -> String {
        format!("req_{:016x}{:016x}", self.run, self.next.fetch_add(1, Ordering::Relaxed))
    }
}
