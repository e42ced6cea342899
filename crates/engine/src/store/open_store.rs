//! The store's interface over either database.

use super::{
    AuditPage, AuditQuery, ErasedRecords, EvidenceCheckKind, FeedPage, FeedQuery, LaneEnd, LaneHead, LogPage, LogQuery,
    Outcome, Search, SharedRecord, SignalBatch, Store, StoreError, WalkedRow, audit, erasure,
    error::StoreFailure,
    evidence_checks, feed,
    feed_freshness::FeedFreshness,
    health::{Health, StoreHealth},
    kept_time::{self, KeptTime},
    lane_walk, log_pages,
    maintenance::{self, MaintenanceJob, Swept},
    reads,
    record_cache::{ReadRow, RecordCache},
    retention::{self, Expired, Retention},
    search::parse,
    signals::Listeners,
    sql::Sql,
    storage_stats::{self, StorageStats},
    tables,
    writer::Writer,
};
use async_trait::async_trait;
use countersign_core::step::Effects;
use countersign_protocol::{ids::RowKey, time::UnixMillis};
use futures_util::future::BoxFuture;
use std::{collections::BTreeMap, sync::Arc};
use tokio::sync::mpsc::UnboundedReceiver;

/// A database's part beside the shared code: connections to read with, and the runner of its maintenance.
#[async_trait]
pub(crate) trait Backend: Send + Sync {
    type Reader: Sql;
    /// Tables swept in this database only.
    const SWEPT_TOO: &'static [Swept] = &[];
    /// Whether it has a clock of its own.
    const OWN_CLOCK: bool;

    /// Lends a connection for one read.
    async fn read<R, F>(&self, read: F) -> Result<R, StoreError>
    where
        R: Send + 'static,
        F: for<'c> FnOnce(&'c mut Self::Reader) -> BoxFuture<'c, Result<R, StoreFailure>> + Send + 'static;

    /// The same for a look-up by an index, which may be too short to be worth a thread of its own.
    async fn look_up<R, F>(&self, read: F) -> Result<R, StoreError>
    where
        R: Send + 'static,
        F: for<'c> FnOnce(&'c mut Self::Reader) -> BoxFuture<'c, Result<R, StoreFailure>> + Send + 'static,
    {
        self.read(read).await
    }

    async fn maintain(&self, chore: MaintenanceJob) -> Result<u64, StoreError>;
    /// Removes expired proofs, where that is a maintenance job.
    async fn drop_expired_proofs(&self) -> Result<(), StoreError> {
        Ok(())
    }
    /// How recent the signals of other nodes are, where there may be others.
    fn feed_freshness(&self) -> FeedFreshness {
        FeedFreshness::default()
    }
    async fn other_nodes(&self) -> Result<Vec<i64>, StoreError> {
        Ok(Vec::new())
    }
    /// Sets a clock that otherwise never goes backwards.
    fn set_clock(&self, _now: UnixMillis) {}
    /// The length of the write-ahead log, where there is one.
    fn log_bytes(&self) -> Option<u64> {
        None
    }
    /// Closes the read connections; they are opened again on demand.
    fn close_readers(&self) {}
    fn writer(&self) -> &Writer;
    fn listeners(&self) -> &Listeners;
    fn health(&self) -> &Health;
    fn lane(&self) -> i64;
}

pub(crate) struct OpenedStore<B> {
    backend: B,
    records: Option<Arc<RecordCache>>,
}

impl<B: Backend> OpenedStore<B> {
    /// `records`: shared with the writer, where there is only one.
    pub(crate) fn new(backend: B, records: Option<Arc<RecordCache>>) -> Self {
        Self { backend, records }
    }

    pub(crate) fn backend(&self) -> &B {
        &self.backend
    }

    async fn read_rows(&self, search: Search) -> Result<Vec<ReadRow>, StoreError> {
        let table = search.table();
        let read = |doc: String| {
            let record = parse(table, &doc)?;
            Ok(ReadRow { key: record.key(), record: record.into_shared(), document_bytes: doc.len() })
        };
        self.list(search).await?.into_iter().map(read).collect()
    }

    /// Learns which rows there are for a look-up that mostly finds nothing. Once, and again when the filter is full.
    async fn fill_absences(&self, records: &RecordCache, search: &Search) -> Result<(), StoreError> {
        let Some(rows) = records.absences.unknown(search) else { return Ok(()) };
        let count = self.backend.read(move |sql| Box::pin(rows.count(sql))).await?;
        let Some(filling) = records.absences.begin(rows, count) else { return Ok(()) };
        let filter = filling.filter();
        self.backend.read(move |sql| Box::pin(async move { rows.add_all(sql, &filter).await })).await?;
        filling.finish();
        Ok(())
    }
}

#[async_trait]
impl<B: Backend> Store for OpenedStore<B> {
    async fn commit(&self, effects: Effects) -> Outcome {
        self.backend.writer().commit(effects, self.records.as_deref()).await
    }

    fn listen(&self) -> UnboundedReceiver<SignalBatch> {
        self.backend.listeners().listen()
    }

    fn feed_freshness(&self) -> FeedFreshness {
        self.backend.feed_freshness()
    }

    async fn other_nodes(&self) -> Result<Vec<i64>, StoreError> {
        self.backend.other_nodes().await
    }

    async fn list(&self, search: Search) -> Result<Vec<String>, StoreError> {
        self.backend.look_up(move |sql| Box::pin(search.documents(sql))).await
    }

    async fn records(&self, search: Search) -> Result<Vec<SharedRecord>, StoreError> {
        let taken = |rows: Vec<ReadRow>| rows.into_iter().map(|row| row.record).collect();
        let Some(records) = &self.records else { return Ok(taken(self.read_rows(search).await?)) };
        if let Some(found) = records.find(&search) {
            return Ok(found);
        }
        if self.fill_absences(records, &search).await.is_ok() && records.absences.rules_out(&search) {
            return Ok(Vec::new());
        }
        let mark = records.begin_read();
        let rows = self.read_rows(search.clone()).await?;
        records.store(mark, search, &rows);
        Ok(taken(rows))
    }

    async fn project_version(&self, project: RowKey, version: i64) -> Result<Option<String>, StoreError> {
        self.backend.read(move |sql| Box::pin(reads::project_version(sql, project, version))).await
    }

    async fn project_versions(&self, project: RowKey) -> Result<Vec<i64>, StoreError> {
        self.backend.read(move |sql| Box::pin(reads::project_versions(sql, project))).await
    }

    async fn count(&self, key: &str) -> Result<i64, StoreError> {
        let key = key.to_owned();
        self.backend.read(move |sql| Box::pin(async move { reads::count(sql, &key).await })).await
    }

    async fn audit(&self, query: AuditQuery) -> Result<AuditPage, StoreError> {
        self.backend.read(move |sql| Box::pin(async move { audit::page(sql, &query).await })).await
    }

    async fn log(&self, query: LogQuery) -> Result<LogPage, StoreError> {
        self.backend.read(move |sql| Box::pin(async move { log_pages::page(sql, &query).await })).await
    }

    async fn last_requests_at(
        &self,
        project: RowKey,
        delegations: Vec<RowKey>,
    ) -> Result<BTreeMap<RowKey, UnixMillis>, StoreError> {
        self.backend
            .read(move |sql| Box::pin(async move { audit::last_requests_at(sql, project, delegations).await }))
            .await
    }

    async fn feed(&self, query: FeedQuery) -> Result<FeedPage, StoreError> {
        self.backend.read(move |sql| Box::pin(async move { feed::page(sql, &query).await })).await
    }

    async fn lane_heads(&self, project: RowKey) -> Result<Vec<LaneHead>, StoreError> {
        self.backend.read(move |sql| Box::pin(reads::lane_heads(sql, project))).await
    }

    async fn index_evidence(&self, limit: i64) -> Result<u64, StoreError> {
        self.backend.maintain(MaintenanceJob::Index { limit }).await
    }

    async fn lane_ends(&self) -> Result<Vec<LaneEnd>, StoreError> {
        self.backend.read(|sql| Box::pin(lane_walk::ends(sql))).await
    }

    async fn lane_rows(&self, lane: i64, after: i64, to: i64) -> Result<Vec<WalkedRow>, StoreError> {
        self.backend.read(move |sql| Box::pin(lane_walk::rows(sql, lane, (after, to)))).await
    }

    async fn evidence_check(&self, kind: EvidenceCheckKind) -> Result<Option<String>, StoreError> {
        self.backend.read(move |sql| Box::pin(evidence_checks::read(sql, kind))).await
    }

    async fn keep_evidence_check(&self, kind: EvidenceCheckKind, state: String) -> Result<(), StoreError> {
        self.backend.maintain(MaintenanceJob::KeepEvidenceCheck { kind, state }).await.map(drop)
    }

    async fn erase_openings(
        &self,
        erasure: RowKey,
        project: RowKey,
        places: Vec<(i64, i64)>,
    ) -> Result<u64, StoreError> {
        self.backend.maintain(MaintenanceJob::EraseOpenings { erasure, project, places }).await
    }

    async fn erased_openings(&self, erasure: RowKey) -> Result<Vec<(RowKey, u64)>, StoreError> {
        self.backend.read(move |sql| Box::pin(erasure::removed(sql, erasure))).await
    }

    async fn erase_records(&self, about: ErasedRecords) -> Result<u64, StoreError> {
        self.backend.maintain(MaintenanceJob::EraseRecords(about)).await
    }

    async fn erase(&self, project: RowKey, lane: i64, pos: i64) -> Result<bool, StoreError> {
        Ok(self.backend.maintain(MaintenanceJob::Erase { project, lane, pos }).await? > 0)
    }

    async fn sweep(&self, now: UnixMillis) -> Result<u64, StoreError> {
        let mut removed = 0;
        for what in Swept::COUNTERS.iter().chain(tables::SWEPT).chain(B::SWEPT_TOO) {
            loop {
                let batch = self.backend.maintain(MaintenanceJob::Sweep { what: *what, now }).await?;
                removed += batch;
                if batch < maintenance::SWEEP {
                    break;
                }
            }
        }
        self.backend.drop_expired_proofs().await?;
        Ok(removed)
    }

    async fn remove_expired(&self, retention: &Retention, now: UnixMillis) -> Result<u64, StoreError> {
        let mut removed = 0;
        for what in Expired::ALL {
            let before = retention.before(what, now);
            for _ in 0..retention::ROUNDS {
                let batch = self.backend.maintain(MaintenanceJob::Remove { what, before }).await?;
                removed += batch;
                if batch < what.batch() {
                    break;
                }
            }
        }
        for _ in 0..retention::ROUNDS {
            if self.backend.maintain(MaintenanceJob::Reclaim).await? == 0 {
                break;
            }
        }
        Ok(removed)
    }

    async fn stats(&self) -> Result<StorageStats, StoreError> {
        let log = self.backend.log_bytes();
        self.backend.read(move |sql| Box::pin(storage_stats::read(sql, log))).await
    }

    async fn now(&self) -> Result<UnixMillis, StoreError> {
        self.backend.read(|sql| Box::pin(sql.now())).await.map(UnixMillis)
    }

    fn has_own_clock(&self) -> bool {
        B::OWN_CLOCK
    }

    async fn kept_time(&self) -> Result<KeptTime, StoreError> {
        self.backend.look_up(|sql| Box::pin(kept_time::read(sql))).await
    }

    async fn keep_time(&self, now: UnixMillis) -> Result<(), StoreError> {
        if B::OWN_CLOCK {
            self.backend.maintain(MaintenanceJob::KeepTime { now }).await?;
        }
        Ok(())
    }

    async fn accept_time(&self, now: UnixMillis, nonces_until: UnixMillis) -> Result<(), StoreError> {
        self.backend.maintain(MaintenanceJob::AcceptTime { now, nonces_until }).await?;
        self.backend.set_clock(now);
        Ok(())
    }

    fn is_sound(&self) -> bool {
        self.backend.writer().is_sound()
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.backend.read(|sql| Box::pin(reads::ping(sql))).await
    }

    fn health(&self) -> StoreHealth {
        self.backend.health().read()
    }

    fn lane(&self) -> i64 {
        self.backend.lane()
    }

    async fn close(&self) {
        self.backend.close_readers();
        self.backend.writer().close().await;
    }
}
