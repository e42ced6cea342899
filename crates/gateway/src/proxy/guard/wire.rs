//! What the two ends of a connection tell each other: what was refused, and whether a request is being answered.

use countersign_engine::Refusal;
use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

#[derive(Debug, Default)]
pub(crate) struct Wire {
    /// Requests whose heads have passed and whose answers have not left: the next may be here before the last is done.
    busy: AtomicUsize,
    refused: Mutex<Option<Refusal>>,
    /// Whether `refused` is worth looking at.
    odd: AtomicBool,
}

/// As long as this lives, a request is being answered.
#[derive(Debug)]
pub(crate) struct Turn(Arc<Wire>);

impl Wire {
    pub(super) fn begins(&self) {
        self.busy.fetch_add(1, Ordering::AcqRel);
    }

    pub(super) fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Acquire) > 0
    }

    pub(super) fn refuse(&self, refusal: Refusal) {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(refusal);
        self.odd.store(true, Ordering::Release);
    }

    /// Why the request that has just come is not the one that was sent.
    pub(crate) fn refusal(&self) -> Option<Refusal> {
        if !self.odd.load(Ordering::Acquire) {
            return None;
        }
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(crate) fn turn(self: &Arc<Self>) -> Turn {
        Turn(Arc::clone(self))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::AcqRel);
    }
}
