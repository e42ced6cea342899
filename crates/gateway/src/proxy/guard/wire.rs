//! State shared by the guard and the HTTP side of a connection: the last refusal, and the number of open requests.

use countersign_engine::Refusal;
use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

#[derive(Debug, Default)]
pub(crate) struct Wire {
    /// Requests that have passed the guard and are not answered yet: the next may arrive before the last is done.
    busy: AtomicUsize,
    refused: Mutex<Option<Refusal>>,
    /// Whether `refused` is set; saves the lock.
    odd: AtomicBool,
}

/// Counts a request as busy until it is dropped.
#[derive(Debug)]
pub(crate) struct ResponseTurn(Arc<Wire>);

impl Wire {
    pub(super) fn begin_request(&self) {
        self.busy.fetch_add(1, Ordering::AcqRel);
    }

    pub(super) fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Acquire) > 0
    }

    pub(super) fn refuse(&self, refusal: Refusal) {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(refusal);
        self.odd.store(true, Ordering::Release);
    }

    /// The refusal of the head that the guard replaced.
    pub(crate) fn refusal(&self) -> Option<Refusal> {
        if !self.odd.load(Ordering::Acquire) {
            return None;
        }
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(crate) fn turn(self: &Arc<Self>) -> ResponseTurn {
        ResponseTurn(Arc::clone(self))
    }
}

impl Drop for ResponseTurn {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::AcqRel);
    }
}
