//! The engine itself: the state that all operations share.

use crate::{
    aaep::hub::Hub,
    aap::webhook_attempts::WebhookAttempts,
    calls::{Assertions, QueuedAttempts, UnrecordedOutcomes},
    clarification::RuleBooks,
    concurrent_use::LastUses,
    credential_cache::{CredentialCache, ProjectCache},
    decisions::StandingApprovalCache,
    dpop::Proofs,
    ended::Acknowledgements,
    ended_holders::EndedHolders,
    entropy::{Entropy, KeyBlocks},
    evidence_health::{CheckResult, EvidenceHealth},
    inflight_writes::InflightWrites,
    jwt_cache::JwtCache,
    keys::{Keys, KeysError},
    limit_cache::LimitCache,
    node_clock::NodeClock,
    people::{PasswordCost, Passwords},
    ports::{Operators, QueuedSender, UpstreamRequests},
    sealing::{EvidenceSettings, LogMismatch, WrittenCheckpoints},
    session_locks::SessionLocks,
    store::{FeedFreshness, Outcome, Retention, StorageStats, Store, StoreError},
    timekeeping::{ClockFault, ClockSkew, Timekeeping},
    waiters::Waiters,
};
use countersign_core::{
    decision::answer::NotCounted,
    env::Env,
    people::sign_in::Throttle,
    refusal::Refusal,
    step::{Count, Effects},
};
use countersign_jose::{KeyPolicy, ProofKeys};
use countersign_protocol::{origin::Origin, time::UnixMillis};
use std::{
    path::PathBuf,
    sync::{Arc, Mutex, RwLock},
};
use tokio_util::task::TaskTracker;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tenancy {
    Single,
    Multi,
}

/// The node's configuration of decisions.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The service's base URI.
    pub origin: Origin,
    pub tenancy: Tenancy,
    /// The public origin of the gateway, if this node has one.
    pub gateway: Option<Origin>,
    /// Whether projects also answer at `{project}.{host}`.
    pub subdomains: bool,
    /// Accepts the published vectors: short session ids, the published test key, fixed delegation ids.
    pub test_mode: bool,
    pub throttle: Throttle,
    /// Per operator and project.
    pub connect_requests_per_minute: i64,
    pub sign_in_lifetime_s: i64,
    /// How long a proof of presence counts as fresh; five minutes at most.
    pub fresh_s: i64,
    pub password_cost: PasswordCost,
    /// The file for outcomes that cannot be recorded while the store is unavailable; without one they are kept in memory only.
    pub unrecorded_outcomes: Option<PathBuf>,
    /// How long records are kept after their end.
    pub retention: Retention,
    pub evidence: EvidenceSettings,
}

pub struct Engine {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: NodeClock,
    pub(crate) entropy: Entropy,
    pub(crate) key_blocks: KeyBlocks,
    pub(crate) settings: Settings,
    pub(crate) operators: Arc<dyn Operators>,
    /// The upstreams of the enforcement point in this process, if there is one.
    pub(crate) upstreams: RwLock<Option<Arc<dyn UpstreamRequests>>>,
    /// The enforcement point in this process that sends held calls, if there is one.
    pub(crate) queued_sender: RwLock<Option<Arc<dyn QueuedSender>>>,
    pub(crate) queued_attempts: QueuedAttempts,
    pub(crate) keys: Keys,
    pub(crate) passwords: Passwords,
    pub(crate) credential_cache: CredentialCache,
    pub(crate) project_cache: ProjectCache,
    pub(crate) standing_approvals: StandingApprovalCache,
    pub(crate) rule_books: RuleBooks,
    pub(crate) proofs: Proofs,
    pub(crate) assertions: Assertions,
    pub(crate) limit_cache: LimitCache,
    pub(crate) last_uses: LastUses,
    pub(crate) webhook_attempts: WebhookAttempts,
    pub(crate) jwt_cache: JwtCache,
    pub(crate) inflight_writes: InflightWrites,
    pub(crate) ended_holders: EndedHolders,
    pub(crate) acknowledgements: Acknowledgements,
    pub(crate) feed_freshness: FeedFreshness,
    /// Calls that outlast their callers, and records that no task awaits.
    pub(crate) tasks: TaskTracker,
    pub(crate) unrecorded: UnrecordedOutcomes,
    /// Held by the task that records late outcomes.
    pub(crate) recording: tokio::sync::Mutex<()>,
    pub(crate) hub: Hub,
    pub(crate) waiters: Waiters,
    pub(crate) session_locks: SessionLocks,
    pub(crate) time: Timekeeping,
    pub(crate) clock_skew: ClockSkew,
    /// Why evidence cannot be sealed, if it is damaged.
    pub(crate) sealing_fault: Mutex<Option<String>>,
    pub(crate) written_checkpoints: WrittenCheckpoints,
    pub(crate) evidence_health: EvidenceHealth,
}

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Keys(#[from] KeysError),
    #[error("the file of unrecorded outcomes cannot be read: {0}")]
    UnrecordedOutcomes(#[from] std::io::Error),
    #[error(transparent)]
    Clock(#[from] ClockFault),
    /// A log that is older than its newest known checkpoint, or does not fit it.
    #[error(transparent)]
    Log(#[from] LogMismatch),
}

impl Engine {
    /// Opens the shared keys, creating them at the first start.
    pub async fn start(
        settings: Settings,
        store: Arc<dyn Store>,
        clock: impl Into<NodeClock>,
        entropy: Entropy,
        key_encryption_key: &[u8; 32],
        operators: Arc<dyn Operators>,
    ) -> Result<Arc<Self>, StartError> {
        let engine = Self::open(settings, store, clock.into(), entropy, key_encryption_key, operators).await?;
        match engine.clock_fault() {
            Some(trouble) => Err(trouble.into()),
            None => {
                let engine = engine.ready().await?;
                engine.compare_with_known_checkpoints().await?;
                Ok(engine)
            }
        }
    }

    /// The same with a clock that may be wrong: nothing is decided then, and the clock can be accepted.
    pub async fn start_to_set_clock(
        settings: Settings,
        store: Arc<dyn Store>,
        clock: impl Into<NodeClock>,
        entropy: Entropy,
        key_encryption_key: &[u8; 32],
        operators: Arc<dyn Operators>,
    ) -> Result<Arc<Self>, StartError> {
        let engine = Self::open(settings, store, clock.into(), entropy, key_encryption_key, operators).await?;
        match engine.clock_fault() {
            Some(_) => Ok(Arc::new(engine)),
            None => engine.ready().await,
        }
    }

    async fn open(
        settings: Settings,
        store: Arc<dyn Store>,
        clock: NodeClock,
        entropy: Entropy,
        key_encryption_key: &[u8; 32],
        operators: Arc<dyn Operators>,
    ) -> Result<Self, StartError> {
        let keys = Keys::new(key_encryption_key, settings.test_mode)?;
        let unrecorded = UnrecordedOutcomes::open(settings.unrecorded_outcomes.clone())?;
        let passwords = Passwords::new(settings.password_cost);
        let (kept, since) = (store.kept_time().await?, store.now().await?);
        let proofs = Proofs::new(ProofKeys::new(KeyPolicy { allow_published_test_keys: settings.test_mode }), since);
        proofs.begin_epoch(since, kept.nonces_until);
        let (feed_freshness, ended_holders) = (store.feed_freshness(), EndedHolders::default());
        let engine = Self {
            store,
            clock,
            entropy,
            key_blocks: KeyBlocks::default(),
            settings,
            operators,
            upstreams: RwLock::default(),
            queued_sender: RwLock::default(),
            queued_attempts: QueuedAttempts::default(),
            keys,
            passwords,
            credential_cache: CredentialCache::new(ended_holders.clone()),
            project_cache: ProjectCache::default(),
            standing_approvals: StandingApprovalCache::default(),
            rule_books: RuleBooks::default(),
            proofs,
            assertions: Assertions::default(),
            limit_cache: LimitCache::default(),
            last_uses: LastUses::default(),
            webhook_attempts: WebhookAttempts::default(),
            jwt_cache: JwtCache::default(),
            inflight_writes: InflightWrites::new(feed_freshness.clone()),
            ended_holders,
            acknowledgements: Acknowledgements::default(),
            feed_freshness,
            tasks: TaskTracker::new(),
            unrecorded,
            recording: tokio::sync::Mutex::default(),
            hub: Hub::default(),
            waiters: Waiters::default(),
            session_locks: SessionLocks::default(),
            time: Timekeeping::new(since, kept),
            clock_skew: ClockSkew::default(),
            sealing_fault: Mutex::default(),
            written_checkpoints: WrittenCheckpoints::default(),
            evidence_health: EvidenceHealth::default(),
        };
        engine.measure_clock_skew().await?;
        Ok(engine)
    }

    async fn ready(self) -> Result<Arc<Self>, StartError> {
        self.open_keys().await?;
        let engine = Arc::new(self);
        engine.forward_signals();
        Ok(engine)
    }

    /// Resolves when every call in progress is recorded.
    pub async fn drain(&self) {
        self.tasks.close();
        self.tasks.wait().await;
        self.tasks.reopen();
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    pub fn clock(&self) -> &NodeClock {
        &self.clock
    }

    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    pub(crate) fn env(&self) -> Result<Env, Refusal> {
        self.check_clock()?;
        self.record_env()
    }

    /// For records of past facts, which stand with any clock. Nothing is decided by it.
    pub(crate) fn record_env(&self) -> Result<Env, Refusal> {
        self.env_at(self.now())
    }

    pub(crate) fn env_at(&self, now: UnixMillis) -> Result<Env, Refusal> {
        let entropy = self.entropy.entropy().map_err(|_| Refusal::Internal)?;
        Ok(Env { now, entropy, first_key: self.key_blocks.next(now, self.store.lane()) })
    }

    /// The size of each kind of record, and the time of its next removal by retention.
    pub async fn storage_stats(&self) -> Result<StorageStats, StoreError> {
        Ok(self.store.stats().await?.with_retention(&self.settings.retention, self.now()))
    }

    /// Reloads changed keys, fills the audit index, seals evidence and removes expired rows; for a background task to call now and then.
    pub async fn run_maintenance(self: &Arc<Self>) -> Result<(), StoreError> {
        const BATCH: i64 = 4096;
        if let Err(why) = self.refresh_keys().await {
            tracing::error!(%why, "the signing keys could not be read again; those known so far stay in use");
        }
        while self.store.index_evidence(BATCH).await? >= BATCH.unsigned_abs() {}
        self.note_sealing(&self.seal_due().await);
        if let Err(why) = self.keep_checkpoints().await {
            tracing::error!(%why, "checkpoints could not be kept beside the database");
        }
        self.measure_clock_skew().await?;
        match self.decision_time() {
            Ok(now) => {
                self.store.sweep(now).await?;
                self.store.remove_expired(&self.settings.retention, now).await?;
                if let Err(why) = self.erase_and_sample().await {
                    tracing::warn!(%why, "an erasure or the check of the evidence could not go on");
                }
                Ok(())
            }
            // With a wrong clock, rows may only seem to be expired.
            Err(_) => Ok(()),
        }
    }

    async fn erase_and_sample(self: &Arc<Self>) -> Result<(), Refusal> {
        self.people().erase_due().await?;
        self.evidence().sample().await
    }

    /// The open requests of agents, on this node, that wait for a person's answer.
    pub fn pending_requests(&self) -> usize {
        self.waiters.count()
    }

    /// The number of altered evidence entries that this node has met.
    pub fn evidence_faults(&self) -> usize {
        self.evidence_health.count()
    }

    /// The last check of the whole evidence.
    pub fn last_evidence_check(&self) -> Option<CheckResult> {
        self.evidence_health.last_check()
    }

    /// The state of the storage of a node that can serve, in lines; if it cannot serve, the reason.
    pub async fn readiness(&self) -> Result<Vec<String>, String> {
        if let Some(trouble) = self.clock_fault() {
            return Err(trouble.to_string());
        }
        let unusable = || self.store.health().fault.unwrap_or_else(|| "the store cannot be used".into());
        if self.keys().is_none() || self.store.health().fault.is_some() || !self.can_write().await {
            return Err(unusable());
        }
        if let Some(damaged) = self.sealing_fault.lock().ok().and_then(|fault| fault.clone()) {
            return Err(damaged);
        }
        let check = self.store.health().check.map(String::from);
        let checked = self.last_evidence_check().map(|result| result.line());
        Ok(check.into_iter().chain(self.evidence_health.line()).chain(checked).collect())
    }

    async fn can_write(&self) -> bool {
        let until = self.now().plus_secs(60);
        let count = Count { name: "readiness", key: "node:ready".into(), by: 1, limit: i64::MAX, until };
        let writes = self.commit(Effects { counts: vec![count], ..Effects::default() }).await == Outcome::Committed;
        writes && self.env().is_ok() && self.store.ping().await.is_ok()
    }
}

/// Nothing is decided without a row that the store could not read.
impl From<StoreError> for Refusal {
    fn from(why: StoreError) -> Self {
        tracing::error!(%why, "the store could not be read");
        Self::Unavailable
    }
}

impl From<StoreError> for NotCounted {
    fn from(why: StoreError) -> Self {
        Refusal::from(why).into()
    }
}
