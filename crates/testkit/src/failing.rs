//! A store that can be read but not written for as long as the test likes, as with a full disk.

use async_trait::async_trait;
use countersign_engine::store::{
    AuditPage, AuditQuery, Effects, FeedFreshness, FeedPage, FeedQuery, KeptTime, LaneHead, Outcome, Retention, Search,
    SignalBatch, StorageStats, Store, StoreError, StoreHealth,
};
use countersign_protocol::{ids::RowKey, time::UnixMillis};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
use tokio::sync::{Notify, mpsc::UnboundedReceiver};

/// The switch of such a store.
#[derive(Clone, Default)]
pub struct Failing(Arc<Switch>);

#[derive(Default)]
struct Switch {
    fails: AtomicBool,
    stalls: AtomicBool,
    stalled: Notify,
    resumes: Notify,
}

impl Failing {
    pub fn around(&self, store: Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::new(Unwritable { store, fails: self.clone() })
    }

    pub fn fails(&self) {
        self.0.fails.store(true, Ordering::SeqCst);
    }

    pub fn works(&self) {
        self.0.fails.store(false, Ordering::SeqCst);
    }

    /// The next claim becomes durable, and its node stalls before it learns of it.
    pub fn stalls_after_a_claim(&self) {
        self.0.stalls.store(true, Ordering::SeqCst);
    }

    pub async fn has_stalled(&self) {
        self.0.stalled.notified().await;
    }

    pub fn resumes(&self) {
        self.0.resumes.notify_one();
    }

    async fn stall(&self) {
        self.0.stalled.notify_one();
        self.0.resumes.notified().await;
    }

    fn is_on(&self) -> bool {
        self.0.fails.load(Ordering::SeqCst)
    }
}

struct Unwritable {
    store: Arc<dyn Store>,
    fails: Failing,
}

#[async_trait]
impl Store for Unwritable {
    async fn commit(&self, effects: Effects) -> Outcome {
        match self.fails.is_on() {
            true => Outcome::Unavailable("the test wants it so".into()),
            false => {
                let claims = effects.evidence.iter().any(|entry| entry.event_type == "execution_claimed");
                let outcome = self.store.commit(effects).await;
                if claims && self.fails.0.stalls.swap(false, Ordering::SeqCst) {
                    self.fails.stall().await;
                }
                outcome
            }
        }
    }

    fn is_sound(&self) -> bool {
        !self.fails.is_on() && self.store.is_sound()
    }

    fn listen(&self) -> UnboundedReceiver<SignalBatch> {
        self.store.listen()
    }

    fn feed_freshness(&self) -> FeedFreshness {
        self.store.feed_freshness()
    }

    async fn other_nodes(&self) -> Result<Vec<i64>, StoreError> {
        self.store.other_nodes().await
    }

    async fn list(&self, search: Search) -> Result<Vec<String>, StoreError> {
        self.store.list(search).await
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

    async fn feed(&self, query: FeedQuery) -> Result<FeedPage, StoreError> {
        self.store.feed(query).await
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

    async fn remove_expired(&self, retention: &Retention, now: UnixMillis) -> Result<u64, StoreError> {
        self.store.remove_expired(retention, now).await
    }

    async fn stats(&self) -> Result<StorageStats, StoreError> {
        self.store.stats().await
    }

    async fn now(&self) -> Result<UnixMillis, StoreError> {
        self.store.now().await
    }

    fn has_own_clock(&self) -> bool {
        self.store.has_own_clock()
    }

    async fn kept_time(&self) -> Result<KeptTime, StoreError> {
        self.store.kept_time().await
    }

    async fn keep_time(&self, now: UnixMillis) -> Result<(), StoreError> {
        self.store.keep_time(now).await
    }

    async fn accept_time(&self, now: UnixMillis, nonces_until: UnixMillis) -> Result<(), StoreError> {
        self.store.accept_time(now, nonces_until).await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.store.ping().await
    }

    fn health(&self) -> StoreHealth {
        self.store.health()
    }

    fn lane(&self) -> i64 {
        self.store.lane()
    }

    async fn close(&self) {
        self.store.close().await;
    }
}
