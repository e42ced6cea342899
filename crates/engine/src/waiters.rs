//! Waking the waiters for a decision, on this node.

use crate::mplp::FEED;
use countersign_protocol::ids::RowKey;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::sync::Notify;

/// WaiterMap by decision. An entry is removed with its last waiter.
#[derive(Clone, Default)]
pub(crate) struct Waiters(Arc<Mutex<WaiterMap>>);

/// Each with the number of its waiters.
type WaiterMap = HashMap<RowKey, (Arc<Notify>, usize)>;

pub(crate) struct Waiter {
    waiters: Waiters,
    key: RowKey,
    notify: Arc<Notify>,
}

impl Waiters {
    /// Registers a waiter. To be called before reading, so that no change in between is missed.
    pub(crate) fn register(&self, key: RowKey) -> Waiter {
        let mut waiters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (notify, holders) = waiters.entry(key).or_default();
        *holders += 1;
        Waiter { waiters: self.clone(), key, notify: Arc::clone(notify) }
    }

    pub(crate) fn wake(&self, key: RowKey) {
        let waiters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((notify, _)) = waiters.get(&key) {
            notify.notify_waiters();
        }
    }

    /// The number of waiters for decisions.
    pub(crate) fn count(&self) -> usize {
        let waiters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiters.iter().filter(|(key, _)| **key != FEED).map(|(_, (_, holders))| holders).sum()
    }

    /// Somebody's access changed: all waiters read again.
    pub(crate) fn wake_all(&self) {
        let waiters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiters.values().for_each(|(notify, _)| notify.notify_waiters());
    }
}

impl Waiter {
    /// Resolves at the next change after this was called.
    pub(crate) fn changed(&self) -> tokio::sync::futures::Notified<'_> {
        self.notify.notified()
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut waiters = self.waiters.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((_, holders)) = waiters.get_mut(&self.key) else { return };
        *holders -= 1;
        if *holders == 0 {
            waiters.remove(&self.key);
        }
    }
}
