//! The store's part in the transparency log.

use super::{
    StoreError, log,
    log::{Cosignature, LogEntry, LogSegment, StoredCheckpoint},
    maintenance::MaintenanceJob,
    open_store::{Backend, OpenedStore},
    sealing,
    sealing::{LogState, SealBatch, Unsealed},
};
use async_trait::async_trait;
use countersign_protocol::{ids::RowKey, time::UnixMillis};
use std::sync::Arc;

#[async_trait]
pub trait LogStore: Send + Sync {
    /// When entries were last sealed, if others wait since.
    async fn entries_wait_since(&self) -> Result<Option<UnixMillis>, StoreError>;
    /// The next entries to seal, at most `limit`. An entry that is missing or does not fit its hash is an error.
    async fn unsealed(&self, limit: i64) -> Result<Unsealed, StoreError>;
    /// Seals a batch in one transaction; false if anybody sealed since the batch was read.
    async fn seal(&self, batch: SealBatch) -> Result<bool, StoreError>;

    /// The size of each project's log.
    async fn log_sizes(&self) -> Result<Vec<(RowKey, i64)>, StoreError>;
    async fn log_state(&self, project: RowKey) -> Result<Option<LogState>, StoreError>;
    /// The hashes of complete tiles, by level and number, in the order asked for.
    async fn log_tiles(&self, project: RowKey, places: Vec<(i64, i64)>) -> Result<Vec<Option<Vec<u8>>>, StoreError>;
    /// The segment with an entry of a lane, if it is sealed.
    async fn log_segment(&self, project: RowKey, lane: i64, seq: i64) -> Result<Option<LogSegment>, StoreError>;
    /// The segments with any of these indexes.
    async fn log_segments(&self, project: RowKey, from: i64, to: i64) -> Result<Vec<LogSegment>, StoreError>;
    /// The entries from one index (inclusive) to another (exclusive), without those that are missing.
    async fn log_entries(&self, project: RowKey, from: i64, to: i64) -> Result<Vec<LogEntry>, StoreError>;
    /// The newest checkpoint up to a size.
    async fn checkpoint(&self, project: RowKey, up_to: i64) -> Result<Option<StoredCheckpoint>, StoreError>;
    /// The newest checkpoint with a cosignature.
    async fn cosigned_checkpoint(&self, project: RowKey) -> Result<Option<StoredCheckpoint>, StoreError>;
    async fn cosignatures(&self, project: RowKey, size: i64) -> Result<Vec<Cosignature>, StoreError>;
    /// The size of the newest checkpoint that a witness cosigned; 0 for none.
    async fn witnessed_size(&self, project: RowKey, witness: &str) -> Result<i64, StoreError>;
    async fn keep_cosignature(&self, project: RowKey, size: i64, cosignature: Cosignature) -> Result<(), StoreError>;
}

#[async_trait]
impl<B: Backend> LogStore for OpenedStore<B> {
    async fn entries_wait_since(&self) -> Result<Option<UnixMillis>, StoreError> {
        self.backend().read(|sql| Box::pin(sealing::sealed_at(sql))).await
    }

    async fn unsealed(&self, limit: i64) -> Result<Unsealed, StoreError> {
        self.backend().read(move |sql| Box::pin(sealing::unsealed(sql, limit))).await?
    }

    async fn seal(&self, batch: SealBatch) -> Result<bool, StoreError> {
        Ok(self.backend().maintain(MaintenanceJob::Seal(Arc::new(batch))).await? > 0)
    }

    async fn log_sizes(&self) -> Result<Vec<(RowKey, i64)>, StoreError> {
        self.backend().read(|sql| Box::pin(log::sizes(sql))).await
    }

    async fn log_state(&self, project: RowKey) -> Result<Option<LogState>, StoreError> {
        self.backend().read(move |sql| Box::pin(log::state(sql, project))).await
    }

    async fn log_tiles(&self, project: RowKey, places: Vec<(i64, i64)>) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        self.backend().read(move |sql| Box::pin(async move { log::tiles(sql, project, &places).await })).await
    }

    async fn log_segment(&self, project: RowKey, lane: i64, seq: i64) -> Result<Option<LogSegment>, StoreError> {
        self.backend().read(move |sql| Box::pin(log::segment_of(sql, project, lane, seq))).await
    }

    async fn log_segments(&self, project: RowKey, from: i64, to: i64) -> Result<Vec<LogSegment>, StoreError> {
        self.backend().read(move |sql| Box::pin(log::segments(sql, project, from, to))).await
    }

    async fn log_entries(&self, project: RowKey, from: i64, to: i64) -> Result<Vec<LogEntry>, StoreError> {
        self.backend().read(move |sql| Box::pin(log::entries(sql, project, from, to))).await
    }

    async fn checkpoint(&self, project: RowKey, up_to: i64) -> Result<Option<StoredCheckpoint>, StoreError> {
        self.backend().read(move |sql| Box::pin(log::newest_checkpoint(sql, project, up_to))).await
    }

    async fn cosigned_checkpoint(&self, project: RowKey) -> Result<Option<StoredCheckpoint>, StoreError> {
        self.backend().read(move |sql| Box::pin(log::newest_cosigned(sql, project))).await
    }

    async fn cosignatures(&self, project: RowKey, size: i64) -> Result<Vec<Cosignature>, StoreError> {
        self.backend().read(move |sql| Box::pin(log::cosignatures(sql, project, size))).await
    }

    async fn witnessed_size(&self, project: RowKey, witness: &str) -> Result<i64, StoreError> {
        let witness = witness.to_owned();
        self.backend().read(move |sql| Box::pin(async move { log::witnessed_size(sql, project, &witness).await })).await
    }

    async fn keep_cosignature(&self, project: RowKey, size: i64, cosignature: Cosignature) -> Result<(), StoreError> {
        let cosignature = Arc::new(cosignature);
        self.backend().maintain(MaintenanceJob::KeepCosignature { project, size, cosignature }).await.map(drop)
    }
}
