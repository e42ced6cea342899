//! Whether this node can serve, for readiness checks.

use crate::{engine::Engine, store::Outcome};
use countersign_core::step::{Count, Effects};

impl Engine {
    /// The state of the storage of a node that can serve; if it cannot serve, the reason.
    pub async fn readiness(&self) -> Result<&'static str, String> {
        if let Some(trouble) = self.clock_fault() {
            return Err(trouble.to_string());
        }
        let unusable = || self.store.health().fault.unwrap_or_else(|| "the store cannot be used".into());
        if self.keys().is_none() || self.store.health().fault.is_some() || !self.can_write().await {
            return Err(unusable());
        }
        Ok(self.store.health().check.unwrap_or_default())
    }

    async fn can_write(&self) -> bool {
        let until = self.now().plus_secs(60);
        let count = Count { name: "readiness", key: "node:ready".into(), by: 1, limit: i64::MAX, until };
        let writes = self.commit(Effects { counts: vec![count], ..Effects::default() }).await == Outcome::Committed;
        writes && self.env().is_ok() && self.store.ping().await.is_ok()
    }
}
