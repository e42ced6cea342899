//! The request of `countersign db stats`.

use super::{AdminRefusal, AdminRequest};
use countersign_engine::{Engine, store::StorageStats};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Serialize, Deserialize)]
pub struct ReadStorageStats {}

impl AdminRequest for ReadStorageStats {
    const NAME: &'static str = "read-storage-stats";
    type Answer = StorageStats;

    async fn run(self, engine: &Arc<Engine>) -> Result<StorageStats, AdminRefusal> {
        Ok(engine.storage_stats().await?)
    }
}
