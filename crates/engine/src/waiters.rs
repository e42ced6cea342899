//! Waking the waiters for a decision, on this node.

use countersign_protocol::ids::RowKey;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::sync::Notify;

/// Waiters by decision. An entry is removed with its last waiter.
#[derive(Clone, Default)]
pub(crate) struct Waits(Arc<Mutex<Waiters>>);

/// Each with the number of its waiters.
type Waiters = HashMap<RowKey, (Arc<Notify>, usize)>;

pub(crate) struct Waiting {
    waits: Waits,
    key: RowKey,
    notify: Arc<Notify>,
}

impl Waits {
    /// Registers a waiter. To be called before reading, so that no change in between is missed.
    pub(crate) fn begin(&self, key: RowKey) -> Waiting {
        let mut waits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (notify, holders) = waits.entry(key).or_default();
        *holders += 1;
        Waiting { waits: self.clone(), key, notify: Arc::clone(notify) }
    }

    pub(crate) fn wake(&self, key: RowKey) {
        let waits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((notify, _)) = waits.get(&key) {
            notify.notify_waiters();
        }
    }

    /// Somebody's access changed: all waiters read again.
    pub(crate) fn wake_all(&self) {
        let waits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waits.values().for_each(|(notify, _)| notify.notify_waiters());
    }
}

impl Waiting {
    /// Resolves at the next change after this was called.
    pub(crate) fn changed(&self) -> tokio::sync::futures::Notified<'_> {
        self.notify.notified()
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut waits = self.waits.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((_, holders)) = waits.get_mut(&self.key) else { return };
        *holders -= 1;
        if *holders == 0 {
            waits.remove(&self.key);
        }
    }
}
