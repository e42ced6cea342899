//! How recently a node has read what the others committed.
//!
//! A node that cannot read the feed does not learn of a revocation. So it sends writes only for a moment after its last
//! good reading: a revocation on another node is answered later than that.

use crate::clock::monotonic;
use std::{sync::Arc, time::Duration};
use tokio::{sync::watch, time::Instant};

/// Shorter than the second after which a revocation is answered, and longer than two looks at the feed.
pub(crate) const RECENT: Duration = Duration::from_millis(700);

/// The start of the last good reading; none where one node is alone on its database.
#[derive(Clone, Debug, Default)]
pub struct Hearing(Option<Arc<watch::Sender<Instant>>>);

impl Hearing {
    pub(crate) fn since(start: Instant) -> Self {
        Self(Some(Arc::new(watch::Sender::new(start))))
    }

    /// To be called when everything that was committed before `start` has been passed on.
    pub(crate) fn heard(&self, start: Instant) {
        if let Some(last) = &self.0 {
            last.send_if_modified(|last| {
                let later = start > *last;
                *last = start.max(*last);
                later
            });
        }
    }

    /// Whether there are other nodes to hear, now or later.
    pub(crate) fn is_shared(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn is_recent(&self) -> bool {
        self.0.as_ref().is_none_or(|last| monotonic() < *last.borrow() + RECENT)
    }

    /// Resolves when the last good reading is too old; never where there is only one node.
    pub(crate) async fn lost(&self) {
        let Some(last) = &self.0 else { return std::future::pending().await };
        loop {
            let until = *last.borrow() + RECENT;
            if until <= monotonic() {
                return;
            }
            tokio::time::sleep_until(until).await;
        }
    }

    /// Whether it is recent, if need be after waiting for the next reading for so long.
    pub(crate) async fn is_recent_within(&self, patience: Duration) -> bool {
        let Some(last) = &self.0 else { return true };
        let recent = |last: &Instant| monotonic() < *last + RECENT;
        matches!(tokio::time::timeout(patience, last.subscribe().wait_for(recent)).await, Ok(Ok(_)))
    }
}
