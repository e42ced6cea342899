//! The listeners for commits, and how far each lane was passed on to them.
//!
//! A node's own signals are passed on by its writer, right after the commit. Where several nodes write, each with its lane,
//! the others' signals come by a feed, and both go by the same positions: no signal is passed on twice, and none before its
//! predecessors.

use countersign_core::signals::Signal;
use std::{
    collections::HashMap,
    ops::Deref,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    time::Instant,
};

/// The signals of one commit or more, in the order of the commits.
pub(crate) type Batch = Vec<Arc<Signal>>;

/// The same as a listener gets it. One without signals says how far the others were read.
#[derive(Clone, Debug, Default)]
pub struct SignalBatch {
    news: Batch,
    /// Everything committed by any node before this moment came with it or earlier.
    pub(crate) up_to: Option<Instant>,
}

impl Deref for SignalBatch {
    type Target = [Arc<Signal>];
    fn deref(&self) -> &Self::Target {
        &self.news
    }
}

impl IntoIterator for SignalBatch {
    type Item = Arc<Signal>;
    type IntoIter = std::vec::IntoIter<Arc<Signal>>;
    fn into_iter(self) -> Self::IntoIter {
        self.news.into_iter()
    }
}

#[derive(Clone, Default)]
pub(crate) struct Listeners(Arc<Mutex<FeedRow>>);

#[derive(Default)]
struct FeedRow {
    listeners: Vec<UnboundedSender<SignalBatch>>,
    /// The last position passed on, by lane. A lane that is not here begins with 1.
    seen: HashMap<i64, i64>,
}

/// A signal with its position in its lane.
pub(crate) struct PlacedSignal {
    pub(crate) lane: i64,
    pub(crate) pos: i64,
    /// None for a signal that this version does not understand.
    pub(crate) news: Option<Arc<Signal>>,
}

/// The place of a commit among those of all nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FeedPosition {
    pub(crate) lane: i64,
    /// The position of its first signal.
    pub(crate) first: i64,
    /// The last position of each lane that it can follow.
    pub(crate) ends: Vec<(i64, i64)>,
}

impl Listeners {
    pub(crate) fn listen(&self) -> UnboundedReceiver<SignalBatch> {
        let (sender, receiver) = unbounded_channel();
        self.state().listeners.push(sender);
        receiver
    }

    /// Whether there is a listener.
    pub(crate) fn has_listeners(&self) -> bool {
        self.state().listeners.iter().any(|listener| !listener.is_closed())
    }

    /// For a store of one node: its order is the order of its commits.
    pub(crate) fn publish(&self, news: Batch) {
        self.state().publish(news, None);
    }

    /// Begins after these positions: earlier signals are not passed on.
    pub(crate) fn start_after(&self, ends: impl IntoIterator<Item = (i64, i64)>) {
        self.state().seen.extend(ends);
    }

    /// How far each lane was passed on, as two lists.
    pub(crate) fn positions(&self) -> (Vec<i64>, Vec<i64>) {
        self.state().seen.iter().map(|(lane, pos)| (*lane, *pos)).unzip()
    }

    /// Passes on this node's own signals; false if they must come by the feed, because a possible predecessor was not passed
    /// on yet.
    pub(crate) fn publish_own(&self, standing: &FeedPosition, news: Batch) -> bool {
        let mut told = self.state();
        let last = standing.first.saturating_add(i64::try_from(news.len()).unwrap_or(0)).saturating_sub(1);
        let before = told.last(standing.lane);
        if before >= last {
            return true;
        }
        let next = before.saturating_add(1) == standing.first;
        if !next || !standing.ends.iter().all(|(lane, pos)| told.last(*lane) >= *pos) {
            return false;
        }
        told.seen.insert(standing.lane, last);
        told.publish(news, None);
        true
    }

    /// Passes on the signals that the feed found, except those passed on meanwhile. They must have been found by one reading,
    /// which then holds their predecessors as well. `up_to` is the start of the reading.
    pub(crate) fn publish_found(&self, found: Vec<PlacedSignal>, up_to: Option<Instant>) {
        let mut told = self.state();
        let mut fresh = Vec::with_capacity(found.len());
        for PlacedSignal { lane, pos, news } in found {
            if told.last(lane) < pos {
                told.seen.insert(lane, pos);
                fresh.extend(news);
            }
        }
        told.publish(in_order(fresh), up_to);
    }

    fn state(&self) -> MutexGuard<'_, FeedRow> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FeedRow {
    fn last(&self, lane: i64) -> i64 {
        self.seen.get(&lane).copied().unwrap_or(0)
    }

    fn publish(&mut self, news: Batch, up_to: Option<Instant>) {
        if !news.is_empty() || up_to.is_some() {
            let batch = SignalBatch { news, up_to };
            self.listeners.retain(|listener| listener.send(batch.clone()).is_ok());
        }
    }
}

/// Lanes were read one after the other, but a session may have events in several: its events are sorted by their numbers,
/// within the places that they occupy.
fn in_order(news: Batch) -> Batch {
    let mut events: HashMap<i64, Vec<(i64, Arc<Signal>)>> = HashMap::new();
    for one in &news {
        if let Signal::Said(said) = &**one {
            events.entry(said.session).or_default().push((said.seq, one.clone()));
        }
    }
    for of_session in events.values_mut() {
        of_session.sort_by_key(|(seq, _)| std::cmp::Reverse(*seq));
    }
    let placed = |one: Arc<Signal>| match &*one {
        Signal::Said(said) => events.get_mut(&said.session).and_then(Vec::pop).map_or(one.clone(), |(_, next)| next),
        _ => one,
    };
    news.into_iter().map(placed).collect()
}

#[cfg(test)]
mod tests;
