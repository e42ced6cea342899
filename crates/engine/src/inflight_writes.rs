//! In-flight writes: let through, and not completely sent.
//!
//! A write's intent is durable before its first byte is sent, so a revocation may come between the two. A write that is
//! being sent then gets a moment to finish and is cut, so that nothing is sent after the 200. A write is held up
//! while this node has not heard the others for so long that it may have missed a revocation, and cut in the end.

use crate::{
    calls::UpstreamError,
    ended_holders::{ReadRight, SendingPiece},
    store::FeedFreshness,
};
use countersign_protocol::ids::RowKey;
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio_util::sync::CancellationToken;

const REVOKED: UpstreamError = UpstreamError::ConnectionLost("a revocation cut it off while it was being sent");
const DEAF: UpstreamError =
    UpstreamError::ConnectionLost("it was cut off while it was being sent: this node could not read its database");

#[derive(Clone)]
pub(crate) struct InflightWrites(Arc<InflightState>);

struct InflightState {
    feed_freshness: FeedFreshness,
    next: AtomicU64,
    /// Each write is listed under its AAP session and, if there is one, under its delegation.
    by_holder: Mutex<HashMap<RowKey, HashMap<u64, Ends>>>,
}

/// The two ends of a write, each reached once.
#[derive(Clone, Default)]
struct Ends {
    cut: CancellationToken,
    /// It has left completely, or never will.
    gone: CancellationToken,
}

/// One write that is being sent. It has left completely, or never will, when this is dropped.
pub(crate) struct InflightWrite {
    writes: InflightWrites,
    number: u64,
    holders: [Option<RowKey>; 2],
    ends: Ends,
}

/// The writes that were being sent at one moment.
pub(crate) struct OutgoingWrite(Vec<Ends>);

/// Whether a request may go on being sent, to be asked before each piece of it.
#[derive(Clone)]
pub struct SendRight {
    source: RightSource,
    feed_freshness: FeedFreshness,
}

#[derive(Clone)]
enum RightSource {
    /// Of an in-flight write: until it is cut.
    Write(CancellationToken),
    Read(ReadRight),
}

impl InflightWrites {
    pub(crate) fn new(feed_freshness: FeedFreshness) -> Self {
        Self(Arc::new(InflightState { feed_freshness, next: AtomicU64::default(), by_holder: Mutex::default() }))
    }

    /// To be called before the write's intent is committed: a later revocation will see this entry.
    pub(crate) fn begin(&self, session: RowKey, delegation: Option<RowKey>) -> InflightWrite {
        let (number, ends) = (self.0.next.fetch_add(1, Ordering::Relaxed), Ends::default());
        let holders = [Some(session), delegation];
        let mut all = self.all();
        for holder in holders.into_iter().flatten() {
            all.entry(holder).or_default().insert(number, ends.clone());
        }
        drop(all);
        InflightWrite { writes: self.clone(), number, holders, ends }
    }

    /// The writes that are being sent under any of these delegations and sessions.
    pub(crate) fn of(&self, holders: &[RowKey]) -> OutgoingWrite {
        let all = self.all();
        let of = holders.iter().filter_map(|holder| all.get(holder)).flat_map(HashMap::values);
        OutgoingWrite(of.cloned().collect())
    }

    fn all(&self) -> MutexGuard<'_, HashMap<RowKey, HashMap<u64, Ends>>> {
        self.0.by_holder.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OutgoingWrite {
    /// Returns when all of them have left. A write that has not within the time is cut: its outcome is unknown.
    pub(crate) async fn wait_or_cut_after(self, time: Duration) {
        if tokio::time::timeout(time, self.wait_until_sent()).await.is_ok() {
            return;
        }
        tracing::warn!("a write that was being sent is cut off by a revocation");
        self.cut();
        self.wait_until_sent().await;
    }

    pub(crate) fn cut(&self) {
        self.0.iter().for_each(|ends| ends.cut.cancel());
    }

    async fn wait_until_sent(&self) {
        for ends in &self.0 {
            ends.gone.cancelled().await;
        }
    }
}

impl InflightWrite {
    /// Resolves with the reason when the write must not be sent any further.
    pub(crate) fn cut(&self) -> impl Future<Output = UpstreamError> + Send + 'static {
        let (cut, deaf) = (self.ends.cut.clone(), until_deaf(self.writes.0.feed_freshness.clone()));
        async move {
            tokio::select! {
                () = cut.cancelled() => REVOKED,
                why = deaf => why,
            }
        }
    }

    pub(crate) fn send_right(&self) -> SendRight {
        let feed_freshness = self.writes.0.feed_freshness.clone();
        SendRight { source: RightSource::Write(self.ends.cut.clone()), feed_freshness }
    }
}

/// Resolves with the reason when a request that was held up must be given up.
pub(crate) async fn until_deaf(feed_freshness: FeedFreshness) -> UpstreamError {
    feed_freshness.timed_out().await;
    DEAF
}

impl SendRight {
    pub(crate) fn of_read(read: ReadRight, feed_freshness: FeedFreshness) -> Self {
        Self { source: RightSource::Read(read), feed_freshness }
    }

    /// Whether nothing more of it may be sent.
    pub fn is_cut(&self) -> bool {
        match &self.source {
            RightSource::Write(cut) => cut.is_cancelled(),
            RightSource::Read(read) => read.is_cut(),
        }
    }

    /// The next piece, if it may be sent now: to be held until it is. Correct also right after this process stood still.
    pub fn begin_piece(&self) -> Option<SendingPiece<'_>> {
        let piece = match &self.source {
            RightSource::Write(_) => SendingPiece::of_write(),
            RightSource::Read(read) => read.begin_piece(),
        };
        // In this order: a reading that makes it recent also cuts the request, if it contained the revocation.
        (self.feed_freshness.is_recent() && !self.is_cut()).then_some(piece)
    }

    /// Resolves when the signals of other nodes are recent, or at once.
    pub fn recovered(&self) -> impl Future<Output = ()> + Send + 'static {
        let feed_freshness = self.feed_freshness.clone();
        async move { feed_freshness.recovered().await }
    }

    /// Whether it may be sent, if need be after waiting for the next reading.
    pub(crate) async fn is_valid_in_time(&self) -> bool {
        self.feed_freshness.recovers_in_time().await && !self.is_cut()
    }
}

impl Drop for InflightWrite {
    fn drop(&mut self) {
        let mut all = self.writes.all();
        for holder in self.holders.into_iter().flatten() {
            if let Some(of) = all.get_mut(&holder) {
                of.remove(&self.number);
                if of.is_empty() {
                    all.remove(&holder);
                }
            }
        }
        drop(all);
        self.ends.gone.cancel();
    }
}
