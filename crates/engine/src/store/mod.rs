//! The store: records, counters, once-keys and the evidence log, in SQLite or PostgreSQL.
//!
//! One trait, two databases. Nothing is changed except by [`Store::commit`], which applies all of a step or nothing, and
//! by maintenance (`sweep`, `index_evidence`, `erase`, `seal`), which changes nothing that a decision depends on.

mod absences;
mod audit;
mod batch;
mod erasure;
mod error;
mod evidence_checks;
mod feed;
mod feed_freshness;
mod health;
mod kept_time;
mod lane_walk;
mod log;
mod log_pages;
mod log_store;
mod maintenance;
mod open_store;
mod options;
mod position;
mod postgres;
mod proofs;
mod reads;
mod record_cache;
mod retention;
mod sealing;
mod search;
mod signals;
mod spent_proofs;
mod sql;
mod sqlite;
mod step;
mod storage_stats;
mod tables;
mod writer;

pub use audit::{AuditBy, AuditPage, AuditPosition, AuditQuery, AuditRow};
pub use erasure::ErasedRecords;
pub use error::StoreError;
pub use evidence_checks::EvidenceCheckKind;
pub use feed::{FeedPage, FeedQuery};
pub use feed_freshness::FeedFreshness;
pub use health::StoreHealth;
pub use kept_time::KeptTime;
pub use lane_walk::{LaneEnd, WalkedRow};
pub use log::{Cosignature, LogEntry, LogSegment, StoredCheckpoint};
pub use log_pages::{LogPage, LogQuery};
pub use log_store::LogStore;
pub use options::{Opening, PostgresLocation, StoreClock, StoreLocation, StoreOptions, open, open_as};
pub(crate) use proofs::StoredProof;
pub use reads::LaneHead;
pub use retention::Retention;
pub use sealing::{CompleteTile, LogState, LogTail, SealBatch, SealedLog, Unsealed, UnsealedEntry};
pub use search::{Lookup, Search, find_all, find_one, find_shared, get, project_at};
pub use signals::SignalBatch;
pub(crate) use spent_proofs::SpentProofs;
pub use sqlite::{DatabaseLock, Holder, LockError, Staged, back_up, vacuum};
pub use storage_stats::{KindStats, StorageStats};
pub use tables::*;

/// The effects of a step, for wrappers between the engine and a store.
pub use countersign_core::{
    records::{Record, SharedRecord},
    step::{Effects, EvidenceDraft},
};

use async_trait::async_trait;
use countersign_protocol::{ids::RowKey, time::UnixMillis};
use std::collections::BTreeMap;
use tokio::sync::mpsc::UnboundedReceiver;

/// The outcome of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Outcome {
    /// All of it is durable.
    Committed,
    /// A guard, a put or a unique column no longer matched the view: load again and decide again.
    Stale,
    /// The counter with this name would have passed its limit.
    LimitReached { counter: &'static str },
    /// This once-key is spent already.
    Spent { key: String },
    /// The proof was shown before.
    Replayed,
    /// By the store's clock the step or its proof was too late or too early.
    OutOfTime,
    /// Nothing is known to have happened, and it must not be repeated blindly (R-24: 503).
    Unavailable(String),
}

#[async_trait]
pub trait Store: LogStore {
    /// Commits the effects, all of them or none, durable before it returns.
    async fn commit(&self, effects: Effects) -> Outcome;
    /// The signals of future commits on this node and every other: after the commit, in the order of each session's events.
    /// A signal of a commit with an unknown end may come without its step's answer. A listener must keep up; to stop, drop
    /// the receiver.
    fn listen(&self) -> UnboundedReceiver<SignalBatch>;

    /// How recent the signals of other nodes are.
    fn feed_freshness(&self) -> FeedFreshness;
    /// The lanes of the other nodes that are in service.
    async fn other_nodes(&self) -> Result<Vec<i64>, StoreError>;

    /// The document of the one row of a search.
    async fn find(&self, search: Search) -> Result<Option<String>, StoreError> {
        Ok(self.list(search).await?.into_iter().next())
    }
    /// The documents of all rows of a search.
    async fn list(&self, search: Search) -> Result<Vec<String>, StoreError>;
    /// The records of all rows of a search: shared with a cache, or nobody else's.
    async fn records(&self, search: Search) -> Result<Vec<SharedRecord>, StoreError>;
    /// A project's record as it was at a version (R-12: decisions record the version they were made under).
    async fn project_version(&self, project: RowKey, version: i64) -> Result<Option<String>, StoreError>;
    /// The versions of a project that were ever in force, oldest first.
    async fn project_versions(&self, project: RowKey) -> Result<Vec<i64>, StoreError>;
    /// The value of a counter; 0 for an expired one.
    async fn count(&self, key: &str) -> Result<i64, StoreError>;

    async fn audit(&self, query: AuditQuery) -> Result<AuditPage, StoreError>;
    /// A page of a project's whole log.
    async fn log(&self, query: LogQuery) -> Result<LogPage, StoreError>;
    /// The times of the last requests under delegations of a project, from their entries; none for one without any.
    async fn last_requests_at(
        &self,
        project: RowKey,
        delegations: Vec<RowKey>,
    ) -> Result<BTreeMap<RowKey, UnixMillis>, StoreError>;
    async fn last_request_at(&self, project: RowKey, delegation: RowKey) -> Result<Option<UnixMillis>, StoreError> {
        Ok(self.last_requests_at(project, vec![delegation]).await?.remove(&delegation))
    }
    /// The events of a project's decisions, plans and executions, after the end of the previous page.
    async fn feed(&self, query: FeedQuery) -> Result<FeedPage, StoreError>;
    /// The head of a project's log in each lane with entries of it.
    async fn lane_heads(&self, project: RowKey) -> Result<Vec<LaneHead>, StoreError>;
    /// Takes up to `limit` entries into the audit index and returns their number. To be called in the background until it
    /// returns less than `limit`.
    async fn index_evidence(&self, limit: i64) -> Result<u64, StoreError>;
    /// The ends of all lanes, at one moment.
    async fn lane_ends(&self) -> Result<Vec<LaneEnd>, StoreError>;
    /// The entries of a lane after one position, up to another.
    async fn lane_rows(&self, lane: i64, after: i64, to: i64) -> Result<Vec<WalkedRow>, StoreError>;
    /// How far a check of the evidence came.
    async fn evidence_check(&self, kind: EvidenceCheckKind) -> Result<Option<String>, StoreError>;
    async fn keep_evidence_check(&self, kind: EvidenceCheckKind, state: String) -> Result<(), StoreError>;
    /// Erases openings by lane and position, for an erasure that counts them.
    async fn erase_openings(
        &self,
        erasure: RowKey,
        project: RowKey,
        places: Vec<(i64, i64)>,
    ) -> Result<u64, StoreError>;
    /// The number of openings that an erasure removed, by project.
    async fn erased_openings(&self, erasure: RowKey) -> Result<Vec<(RowKey, u64)>, StoreError>;
    /// Removes the rows of a person and of their agents.
    async fn erase_records(&self, about: ErasedRecords) -> Result<u64, StoreError>;
    /// Erases the openings of one entry; returns whether there were any.
    async fn erase(&self, project: RowKey, lane: i64, pos: i64) -> Result<bool, StoreError>;
    /// Removes expired rows and returns their number. Proofs go by the table and are not counted.
    async fn sweep(&self, now: UnixMillis) -> Result<u64, StoreError>;
    /// Removes records past their retention period and returns their number. One call removes a limited number; the next calls
    /// remove the rest.
    async fn remove_expired(&self, retention: &Retention, now: UnixMillis) -> Result<u64, StoreError>;
    /// The size of each kind of record. Reads the whole database.
    async fn stats(&self) -> Result<StorageStats, StoreError>;

    /// The store's clock.
    async fn now(&self) -> Result<UnixMillis, StoreError>;
    /// Whether that is the store's own clock, and not the node's.
    fn has_own_clock(&self) -> bool;
    async fn kept_time(&self) -> Result<KeptTime, StoreError>;
    /// Keeps the time of the nodes' decisions, where the store does not keep it with its commits.
    async fn keep_time(&self, now: UnixMillis) -> Result<(), StoreError>;
    /// An administrator's statement that this is the time, against any kept one.
    async fn accept_time(&self, now: UnixMillis, nonces_until: UnixMillis) -> Result<(), StoreError>;
    /// Whether the last step could be written, so that the next one can be tried. The next successful step makes it true
    /// again.
    fn is_sound(&self) -> bool;
    async fn ping(&self) -> Result<(), StoreError>;
    /// The health of the storage. A fault stays until the node is restarted.
    fn health(&self) -> StoreHealth;
    /// The lane of this node, unique among the live ones. Ask each time: after a lapsed lease (suspended, or cut off) a node
    /// comes back with another.
    fn lane(&self) -> i64;
    /// Ends the writer after the queued jobs, and gives the lane back.
    async fn close(&self);
}
