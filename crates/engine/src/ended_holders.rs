//! Recently ended delegations and AAP sessions, for reads that are about to be sent.
//!
//! A speculative read has no durable intent that a revocation could find. It takes the generation before it is decided,
//! and every end begins a new one: as long as the generations are equal the read may be sent, and otherwise its own
//! delegation and session are looked up. This is checked with every piece of the request, and a revocation is answered
//! only after the pieces that were being sent at that moment.

use countersign_protocol::ids::RowKey;
use std::{
    array,
    cell::Cell,
    collections::{HashMap, VecDeque},
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

/// A read that was decided before the oldest of these is not sent.
const REMEMBERED: usize = 16_384;
/// More than the threads of most machines, so that two threads seldom share a count.
const COUNTS: usize = 64;

/// How many ends this node had seen at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Generation(u64);

#[derive(Clone, Default)]
pub(crate) struct EndedHolders(Arc<EndedState>);

struct EndedState {
    generation: AtomicU64,
    recent: RwLock<RecentEnds>,
    /// The pieces that are being sent, counted by thread.
    sending: [PieceCount; COUNTS],
}

#[derive(Default)]
struct RecentEnds {
    by_holder: HashMap<RowKey, Generation>,
    /// The oldest first.
    order: VecDeque<(RowKey, Generation)>,
    /// The last generation with an end that is not remembered any more.
    forgotten: Generation,
}

/// On a cache line of its own.
#[derive(Default)]
#[repr(align(128))]
struct PieceCount(AtomicUsize);

/// A piece of a request that is being sent.
#[must_use = "a revocation waits for the piece until this is dropped"]
pub struct SendingPiece<'a>(Option<&'a PieceCount>);

/// The right of a speculative read to be sent, as it was decided in one generation.
#[derive(Clone)]
pub(crate) struct ReadRight {
    ended: EndedHolders,
    decided_in: Generation,
    holders: [Option<RowKey>; 2],
}

impl Default for EndedState {
    fn default() -> Self {
        Self {
            generation: AtomicU64::default(),
            recent: RwLock::default(),
            sending: array::from_fn(|_| PieceCount::default()),
        }
    }
}

impl EndedHolders {
    /// To be taken before the rows are read that a decision rests on.
    pub(crate) fn generation(&self) -> Generation {
        Generation(self.0.generation.load(Ordering::SeqCst))
    }

    pub(crate) fn add(&self, holders: &[RowKey]) {
        let mut recent = self.0.recent.write().unwrap_or_else(PoisonError::into_inner);
        let generation = Generation(self.generation().0 + 1);
        for holder in holders {
            recent.by_holder.insert(*holder, generation);
            recent.order.push_back((*holder, generation));
        }
        recent.forget_oldest();
        // Last: a read in the new generation was decided without what ended.
        self.0.generation.store(generation.0, Ordering::SeqCst);
    }

    /// Whether one of them ended since, or may have.
    pub(crate) fn has_ended_since(&self, since: Generation, holders: &[Option<RowKey>]) -> bool {
        if self.generation() == since {
            return false;
        }
        let recent = self.0.recent.read().unwrap_or_else(PoisonError::into_inner);
        let ended = |holder: &RowKey| recent.by_holder.get(holder).is_some_and(|ended| *ended > since);
        since < recent.forgotten || holders.iter().flatten().any(ended)
    }

    pub(crate) fn read_right(&self, decided_in: Generation, holders: [Option<RowKey>; 2]) -> ReadRight {
        ReadRight { ended: self.clone(), decided_in, holders }
    }

    /// Returns when no piece is being sent that was checked before the last end.
    pub(crate) async fn wait_for_pieces(&self) {
        for count in &self.0.sending {
            while count.0.load(Ordering::SeqCst) > 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    }

    /// Counted before the generation is read: a revocation sees the piece, or the piece sees the revocation.
    fn begin_piece(&self) -> SendingPiece<'_> {
        let [first, ..] = &self.0.sending;
        let count = self.0.sending.get(count_of_thread()).unwrap_or(first);
        count.0.fetch_add(1, Ordering::SeqCst);
        SendingPiece(Some(count))
    }
}

impl RecentEnds {
    fn forget_oldest(&mut self) {
        while self.order.len() > REMEMBERED
            && let Some((holder, generation)) = self.order.pop_front()
        {
            if self.by_holder.get(&holder) == Some(&generation) {
                self.by_holder.remove(&holder);
            }
            self.forgotten = generation;
        }
    }
}

impl ReadRight {
    pub(crate) fn is_cut(&self) -> bool {
        self.ended.has_ended_since(self.decided_in, &self.holders)
    }

    pub(crate) fn begin_piece(&self) -> SendingPiece<'_> {
        self.ended.begin_piece()
    }
}

impl SendingPiece<'_> {
    /// A piece of a write: a revocation waits for all of the write.
    pub(crate) fn of_write() -> Self {
        Self(None)
    }
}

impl Drop for SendingPiece<'_> {
    fn drop(&mut self) {
        if let Some(count) = self.0 {
            count.0.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

fn count_of_thread() -> usize {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static COUNT: Cell<usize> = Cell::new(THREADS.fetch_add(1, Ordering::Relaxed) % COUNTS);
    }
    COUNT.get()
}

#[cfg(test)]
mod tests;
