//! Writes that were let through and have not left completely.
//!
//! A write's intent is durable before its first byte is sent, so a revocation may come between the two. It waits a
//! moment for what is being sent and cuts the rest, so that after its 200 nothing of the delegation leaves this node
//!

use countersign_protocol::ids::RowKey;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::{Notify, watch};

#[derive(Clone, Default)]
pub(crate) struct InflightWrites(Arc<Shared>);

#[derive(Default)]
struct Shared {
    by_delegation: Mutex<HashMap<RowKey, OfDelegation>>,
    changed: Notify,
}

struct OfDelegation {
    count: usize,
    cut: watch::Sender<bool>,
}

/// One write that is being sent. It has left completely, or never will, when this is dropped.
pub(crate) struct InflightWrite {
    writes: InflightWrites,
    delegation: RowKey,
    cut: watch::Receiver<bool>,
}

impl InflightWrites {
    /// To be called before the write's intent is committed: a revocation that comes after it will see this.
    pub(crate) fn begin(&self, delegation: RowKey) -> InflightWrite {
        let mut all = self.all();
        let of = all.entry(delegation).or_insert_with(|| OfDelegation { count: 0, cut: watch::Sender::new(false) });
        of.count += 1;
        let cut = of.cut.subscribe();
        drop(all);
        InflightWrite { writes: self.clone(), delegation, cut }
    }

    /// Returns when no write of the delegation is being sent.
    pub(crate) async fn sent(&self, delegation: RowKey) {
        loop {
            let changed = self.0.changed.notified();
            if !self.all().contains_key(&delegation) {
                return;
            }
            changed.await;
        }
    }

    /// Cuts what is still being sent: its outcome is unknown.
    pub(crate) fn cut(&self, delegation: RowKey) {
        if let Some(of) = self.all().get(&delegation) {
            of.cut.send_replace(true);
        }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<RowKey, OfDelegation>> {
        self.0.by_delegation.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl InflightWrite {
    /// Resolves when the write must not be sent any further.
    pub(crate) fn cut(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut cut = self.cut.clone();
        async move {
            if cut.wait_for(|cut| *cut).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}

impl Drop for InflightWrite {
    fn drop(&mut self) {
        let mut all = self.writes.all();
        if let Some(of) = all.get_mut(&self.delegation) {
            of.count -= 1;
            if of.count == 0 {
                all.remove(&self.delegation);
            }
        }
        drop(all);
        self.writes.0.changed.notify_waiters();
    }
}
