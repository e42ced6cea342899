//! How recently a node has read the commits of the others.
//!
//! A node that cannot read the feed does not learn of a revocation. So it sends writes only for a moment after the start
//! of its last good reading, and holds them up until the next: a revocation on another node is answered later than that.

use crate::clock::monotonic;
use std::{sync::Arc, time::Duration};
use tokio::{sync::watch, time::Instant};

/// Shorter than the second after which a revocation is answered, and longer than two readings of the feed.
const RECENT: Duration = Duration::from_millis(700);
/// A write that was held up for so long is cut.
const PATIENCE: Duration = Duration::from_secs(5);

/// The start of the last good reading; none where one node is alone on its database.
#[derive(Clone, Debug, Default)]
pub struct FeedFreshness(Option<Arc<watch::Sender<Instant>>>);

impl FeedFreshness {
    pub(crate) fn starting_at(start: Instant) -> Self {
        Self(Some(Arc::new(watch::Sender::new(start))))
    }

    /// To be called after everything committed before `start` has been processed.
    pub(crate) fn record_reading(&self, start: Instant) {
        if let Some(last) = &self.0 {
            last.send_modify(|last| *last = start.max(*last));
        }
    }

    /// Whether there are other nodes, now or later.
    pub(crate) fn is_shared(&self) -> bool {
        self.0.is_some()
    }

    /// How long a write may go on being sent under a delegation or session that ended after the last good reading.
    pub(crate) fn remaining(&self) -> Duration {
        self.0.as_ref().map_or(RECENT, |last| (*last.borrow() + RECENT).saturating_duration_since(monotonic()))
    }

    pub(crate) fn is_recent(&self) -> bool {
        !self.remaining().is_zero()
    }

    /// Resolves when it is recent: at once, or with the next good reading.
    pub(crate) async fn recovered(&self) {
        if let Some(last) = &self.0 {
            let recent = |last: &Instant| monotonic() < *last + RECENT;
            if last.subscribe().wait_for(recent).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    pub(crate) async fn recovers_in_time(&self) -> bool {
        self.is_recent() || tokio::time::timeout(PATIENCE, self.recovered()).await.is_ok()
    }

    /// Resolves when a held-up write must be given up; never where there is only one node.
    pub(crate) async fn timed_out(&self) {
        let Some(last) = &self.0 else { return std::future::pending().await };
        loop {
            let until = *last.borrow() + PATIENCE;
            if until <= monotonic() {
                return;
            }
            tokio::time::sleep_until(until).await;
        }
    }
}
