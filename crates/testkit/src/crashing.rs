//! A store that kills its process at one of its commits: the database is then in the same state as after a power loss.

use async_trait::async_trait;
use countersign_engine::store::{
    AuditPage, AuditQuery, Effects, FeedFreshness, FeedPage, FeedQuery, KeptTime, LaneHead, Outcome, Retention, Search,
    SignalBatch, StorageStats, Store, StoreError, StoreHealth,
};
use countersign_protocol::{ids::RowKey, time::UnixMillis};
use serde::{Deserialize, Serialize};
use std::{
    pin::pin,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};
use tokio::sync::mpsc::UnboundedReceiver;

/// The commit at which a process dies; the first one is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doom {
    pub commit: usize,
    pub moment: Moment,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Moment {
    /// Decided, but not written.
    Before,
    /// On its way into the database; it may have arrived.
    During,
    /// Durable, but not yet reported.
    After,
}

/// Forwards everything until its commit comes.
pub struct Crashing {
    store: Arc<dyn Store>,
    doom: Option<Doom>,
    commits: AtomicUsize,
}

impl Crashing {
    pub fn around(store: Arc<dyn Store>, doom: Option<Doom>) -> Arc<dyn Store> {
        Arc::new(Self { store, doom, commits: AtomicUsize::new(0) })
    }
}

#[async_trait]
impl Store for Crashing {
    async fn commit(&self, effects: Effects) -> Outcome {
        let number = self.commits.fetch_add(1, Ordering::SeqCst) + 1;
        match self.doom.filter(|doom| doom.commit == number).map(|doom| doom.moment) {
            None => self.store.commit(effects).await,
            Some(Moment::Before) => die(),
            Some(Moment::During) => {
                let mut commit = pin!(self.store.commit(effects));
                let _on_its_way = futures_util::poll!(commit.as_mut());
                die()
            }
            Some(Moment::After) => {
                let _nobody_hears = self.store.commit(effects).await;
                die()
            }
        }
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

    fn is_sound(&self) -> bool {
        self.store.is_sound()
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

/// SIGKILL to this process: nothing is unwound or flushed.
fn die() -> ! {
    let us = std::process::id().to_string();
    let _sent = Command::new("sh").args(["-c", "kill -9 \"$0\"", &us]).status();
    loop {
        std::thread::park();
    }
}
