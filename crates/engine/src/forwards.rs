//! Writes that were let through and have not reached the service behind yet.
//!
//! A write's intent is durable before it is forwarded, so a revocation may come between the two. Whoever revokes
//! waits for those few, so that after its 200 nothing of the delegation is forwarded by this node.

use countersign_protocol::ids::RowKey;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::sync::Notify;

#[derive(Clone, Default)]
pub(crate) struct Forwards(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// How many writes of a delegation are on their way.
    under_way: Mutex<HashMap<RowKey, usize>>,
    changed: Notify,
}

/// One write on its way. It has arrived, or will never leave, when this is dropped.
pub(crate) struct UnderWay {
    forwards: Forwards,
    delegation: RowKey,
}

impl Forwards {
    /// To be called before the write's intent is committed: a revocation that comes after it will see this.
    pub(crate) fn begin(&self, delegation: RowKey) -> UnderWay {
        *self.counts().entry(delegation).or_default() += 1;
        UnderWay { forwards: self.clone(), delegation }
    }

    /// Returns when no write of the delegation that began before is on its way.
    pub(crate) async fn arrived(&self, delegation: RowKey) {
        loop {
            let changed = self.0.changed.notified();
            if !self.counts().contains_key(&delegation) {
                return;
            }
            changed.await;
        }
    }

    fn counts(&self) -> std::sync::MutexGuard<'_, HashMap<RowKey, usize>> {
        self.0.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut counts = self.forwards.counts();
        if let Some(count) = counts.get_mut(&self.delegation) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.delegation);
            }
        }
        drop(counts);
        self.forwards.0.changed.notify_waiters();
    }
}
