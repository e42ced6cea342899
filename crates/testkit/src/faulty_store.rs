//! A store with faults: it refuses writes, stalls after a claim, or kills its process at one of its commits.

use async_trait::async_trait;
use countersign_engine::store::{
    AuditPage, AuditQuery, Cosignature, Effects, ErasedRecords, EvidenceCheckKind, FeedFreshness, FeedPage, FeedQuery,
    KeptTime, LaneEnd, LaneHead, LogEntry, LogPage, LogQuery, LogSegment, LogState, LogStore, Outcome, Retention,
    SealBatch, Search, SharedRecord, SignalBatch, StorageStats, Store, StoreError, StoreHealth, StoredCheckpoint,
    Unsealed, WalkedRow,
};
use countersign_protocol::{ids::RowKey, time::UnixMillis};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    pin::pin,
    process::Command,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};
use tokio::sync::{Notify, mpsc::UnboundedReceiver};

/// The commit at which a process dies; the first one is 1. The database is then in the same state as after a power loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrashPoint {
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

impl CrashPoint {
    /// The store, with a crash at this point if there is one.
    pub fn wrap(point: Option<Self>, store: Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::new(FaultyStore { store, crash: point, commits: AtomicUsize::new(0), faults: WriteFaults::default() })
    }
}

/// The switch of a store that can be read but not written, as with a full disk.
#[derive(Clone, Default)]
pub struct WriteFaults(Arc<Switch>);

#[derive(Default)]
struct Switch {
    fails: AtomicBool,
    failing_entry: Mutex<Option<(&'static str, Outcome)>>,
    stalls: AtomicBool,
    stalled: Notify,
    resumes: Notify,
}

impl WriteFaults {
    pub fn wrap(&self, store: Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::new(FaultyStore { store, crash: None, commits: AtomicUsize::new(0), faults: self.clone() })
    }

    pub fn start(&self) {
        self.0.fails.store(true, Ordering::SeqCst);
    }

    /// From now on a step with an entry of this type is not written, and has this outcome.
    pub fn fail_entries(&self, event_type: &'static str, outcome: Outcome) {
        *self.0.failing_entry.lock().unwrap() = Some((event_type, outcome));
    }

    pub fn stop(&self) {
        self.0.fails.store(false, Ordering::SeqCst);
        *self.0.failing_entry.lock().unwrap() = None;
    }

    /// The next claim becomes durable, and its node stalls before it learns of it.
    pub fn stall_after_claim(&self) {
        self.0.stalls.store(true, Ordering::SeqCst);
    }

    pub async fn wait_for_stall(&self) {
        self.0.stalled.notified().await;
    }

    pub fn resume(&self) {
        self.0.resumes.notify_one();
    }

    fn active(&self) -> bool {
        self.0.fails.load(Ordering::SeqCst)
    }

    async fn commit(&self, store: &dyn Store, effects: Effects) -> Outcome {
        if self.active() {
            return Outcome::Unavailable("a fault of the test".into());
        }
        if let Some((event_type, outcome)) = self.0.failing_entry.lock().unwrap().clone()
            && effects.evidence.iter().any(|entry| entry.event_type == event_type)
        {
            return outcome;
        }
        let claims = effects.evidence.iter().any(|entry| entry.event_type == "execution_claimed");
        let outcome = store.commit(effects).await;
        if claims && self.0.stalls.swap(false, Ordering::SeqCst) {
            self.0.stalled.notify_one();
            self.0.resumes.notified().await;
        }
        outcome
    }
}

struct FaultyStore {
    store: Arc<dyn Store>,
    crash: Option<CrashPoint>,
    commits: AtomicUsize,
    faults: WriteFaults,
}

impl FaultyStore {
    /// A commit: the process dies around it if it is the one to crash at.
    async fn crashing<T>(&self, commit: impl Future<Output = T>) -> T {
        let number = self.commits.fetch_add(1, Ordering::SeqCst) + 1;
        match self.crash.filter(|crash| crash.commit == number).map(|crash| crash.moment) {
            None => commit.await,
            Some(Moment::Before) => die(),
            Some(Moment::During) => {
                let mut commit = pin!(commit);
                let _in_progress = futures_util::poll!(commit.as_mut());
                die()
            }
            Some(Moment::After) => {
                let _unreported = commit.await;
                die()
            }
        }
    }
}

#[async_trait]
impl LogStore for FaultyStore {
    async fn entries_wait_since(&self) -> Result<Option<UnixMillis>, StoreError> {
        self.store.entries_wait_since().await
    }

    async fn unsealed(&self, limit: i64) -> Result<Unsealed, StoreError> {
        self.store.unsealed(limit).await
    }

    async fn seal(&self, batch: SealBatch) -> Result<bool, StoreError> {
        if self.faults.active() {
            return Err(StoreError::Unavailable("a fault of the test".into()));
        }
        self.crashing(self.store.seal(batch)).await
    }

    async fn log_sizes(&self) -> Result<Vec<(RowKey, i64)>, StoreError> {
        self.store.log_sizes().await
    }

    async fn log_state(&self, project: RowKey) -> Result<Option<LogState>, StoreError> {
        self.store.log_state(project).await
    }

    async fn log_tiles(&self, project: RowKey, places: Vec<(i64, i64)>) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        self.store.log_tiles(project, places).await
    }

    async fn log_segment(&self, project: RowKey, lane: i64, seq: i64) -> Result<Option<LogSegment>, StoreError> {
        self.store.log_segment(project, lane, seq).await
    }

    async fn log_segments(&self, project: RowKey, from: i64, to: i64) -> Result<Vec<LogSegment>, StoreError> {
        self.store.log_segments(project, from, to).await
    }

    async fn log_entries(&self, project: RowKey, from: i64, to: i64) -> Result<Vec<LogEntry>, StoreError> {
        self.store.log_entries(project, from, to).await
    }

    async fn checkpoint(&self, project: RowKey, up_to: i64) -> Result<Option<StoredCheckpoint>, StoreError> {
        self.store.checkpoint(project, up_to).await
    }

    async fn cosigned_checkpoint(&self, project: RowKey) -> Result<Option<StoredCheckpoint>, StoreError> {
        self.store.cosigned_checkpoint(project).await
    }

    async fn cosignatures(&self, project: RowKey, size: i64) -> Result<Vec<Cosignature>, StoreError> {
        self.store.cosignatures(project, size).await
    }

    async fn witnessed_size(&self, project: RowKey, witness: &str) -> Result<i64, StoreError> {
        self.store.witnessed_size(project, witness).await
    }

    async fn keep_cosignature(&self, project: RowKey, size: i64, cosignature: Cosignature) -> Result<(), StoreError> {
        self.crashing(self.store.keep_cosignature(project, size, cosignature)).await
    }
}

#[async_trait]
impl Store for FaultyStore {
    async fn commit(&self, effects: Effects) -> Outcome {
        self.crashing(self.faults.commit(self.store.as_ref(), effects)).await
    }

    fn is_sound(&self) -> bool {
        !self.faults.active() && self.store.is_sound()
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

    async fn records(&self, search: Search) -> Result<Vec<SharedRecord>, StoreError> {
        self.store.records(search).await
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

    async fn log(&self, query: LogQuery) -> Result<LogPage, StoreError> {
        self.store.log(query).await
    }

    async fn last_requests_at(
        &self,
        project: RowKey,
        delegations: Vec<RowKey>,
    ) -> Result<BTreeMap<RowKey, UnixMillis>, StoreError> {
        self.store.last_requests_at(project, delegations).await
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

    async fn lane_ends(&self) -> Result<Vec<LaneEnd>, StoreError> {
        self.store.lane_ends().await
    }

    async fn lane_rows(&self, lane: i64, after: i64, to: i64) -> Result<Vec<WalkedRow>, StoreError> {
        self.store.lane_rows(lane, after, to).await
    }

    async fn evidence_check(&self, kind: EvidenceCheckKind) -> Result<Option<String>, StoreError> {
        self.store.evidence_check(kind).await
    }

    async fn keep_evidence_check(&self, kind: EvidenceCheckKind, state: String) -> Result<(), StoreError> {
        self.store.keep_evidence_check(kind, state).await
    }

    async fn erase_openings(
        &self,
        erasure: RowKey,
        project: RowKey,
        places: Vec<(i64, i64)>,
    ) -> Result<u64, StoreError> {
        self.store.erase_openings(erasure, project, places).await
    }

    async fn erased_openings(&self, erasure: RowKey) -> Result<Vec<(RowKey, u64)>, StoreError> {
        self.store.erased_openings(erasure).await
    }

    async fn erase_records(&self, about: ErasedRecords) -> Result<u64, StoreError> {
        self.store.erase_records(about).await
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

/// SIGKILL to this process: nothing is unwound or flushed.
fn die() -> ! {
    let pid = std::process::id().to_string();
    let _sent = Command::new("sh").args(["-c", "kill -9 \"$0\"", &pid]).status();
    loop {
        std::thread::park();
    }
}
