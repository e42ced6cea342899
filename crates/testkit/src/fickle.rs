//! A store that goes away and comes back, as a database does behind a network.

use async_trait::async_trait;
use countersign_engine::store::{
    AuditPage, AuditQuery, Effects, LaneHead, Lookup, NewsBatch, Outcome, Store, StoreError,
};
use countersign_protocol::{ids::RowKey, time::UnixMillis};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
use tokio::sync::mpsc::UnboundedReceiver;

/// Writes nothing while it is away; what it knows can still be read.
pub struct Fickle {
    store: Arc<dyn Store>,
    away: Arc<Away>,
}

/// The switch of a [`Fickle`] store.
#[derive(Default)]
pub struct Away(AtomicBool);

impl Away {
    pub fn goes(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    pub fn returns(&self) {
        self.0.store(false, Ordering::SeqCst);
    }

    fn is_now(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

impl Fickle {
    pub fn around(store: Arc<dyn Store>, away: &Arc<Away>) -> Arc<dyn Store> {
        Arc::new(Self { store, away: Arc::clone(away) })
    }
}

#[async_trait]
impl Store for Fickle {
    async fn commit(&self, effects: Effects) -> Outcome {
        match self.away.is_now() {
            true => Outcome::Unavailable("the store is away".into()),
            false => self.store.commit(effects).await,
        }
    }

    fn listen(&self) -> UnboundedReceiver<NewsBatch> {
        self.store.listen()
    }

    async fn find(&self, lookup: Lookup) -> Result<Option<String>, StoreError> {
        self.store.find(lookup).await
    }

    async fn list(&self, lookup: Lookup) -> Result<Vec<String>, StoreError> {
        self.store.list(lookup).await
    }

    async fn project_version(&self, project: RowKey, version: i64) -> Result<Option<String>, StoreError> {
        self.store.project_version(project, version).await
    }

    async fn project_versions(&self, project: RowKey) -> Result<Vec<i64>, StoreError> {
        self.store.project_versions(project).await
    }

    async fn count(&self, key: &str) -> Result<i64, StoreError> {
        self.store.count(key).await
    }

    async fn audit(&self, query: AuditQuery) -> Result<AuditPage, StoreError> {
        self.store.audit(query).await
    }

    async fn lane_heads(&self, project: RowKey) -> Result<Vec<LaneHead>, StoreError> {
        self.store.lane_heads(project).await
    }

    async fn index_evidence(&self, limit: i64) -> Result<u64, StoreError> {
        self.store.index_evidence(limit).await
    }

    async fn erase(&self, project: RowKey, lane: i64, pos: i64) -> Result<bool, StoreError> {
        self.store.erase(project, lane, pos).await
    }

    async fn sweep(&self, now: UnixMillis) -> Result<u64, StoreError> {
        self.store.sweep(now).await
    }

    async fn now(&self) -> Result<UnixMillis, StoreError> {
        self.store.now().await
    }

    fn is_sound(&self) -> bool {
        !self.away.is_now() && self.store.is_sound()
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.store.ping().await
    }

    fn lane(&self) -> i64 {
        self.store.lane()
    }

    async fn close(&self) {
        self.store.close().await;
    }
}
