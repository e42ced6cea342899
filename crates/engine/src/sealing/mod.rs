//! Sealing: the entries of all lanes become leaves of one signed Merkle tree a project, in the background.
//!
//! Any node seals. A batch is computed beside the writers and holds only if nobody else sealed meanwhile.

mod batch;
mod checkpoints;
mod files;
mod known;
mod log_keys;
mod tree;
mod witnesses;

pub use checkpoints::{EvidenceError, InclusionProof, SignedCheckpoint};
pub(crate) use known::WrittenCheckpoints;
pub use known::{EvidenceSettings, LogMismatch, Witness};

use crate::{
    engine::Engine,
    keys::KeysError,
    runner::TRIES,
    store::{StoreError, Unsealed},
};
use countersign_core::records::Project;
use countersign_protocol::ids::RowKey;
use std::collections::{BTreeMap, BTreeSet};

/// While entries come, a checkpoint is made this often. Maintenance looks every two seconds, so at least every ten.
const EVERY_MS: i64 = 5000;
/// Of a database that was never restored.
const FIRST_EPOCH: i64 = 1;
/// Few enough that computing and writing a batch holds up nothing else.
const BATCH: i64 = 2048;

/// Why entries could not be sealed.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Keys(#[from] KeysError),
    #[error("other nodes sealed at the same time, again and again")]
    Busy,
}

impl Engine {
    /// Seals the entries that wait, if the last checkpoint is old enough.
    pub(crate) async fn seal_due(&self) -> Result<(), SealError> {
        let now = self.now();
        match self.store.entries_wait_since().await? {
            // A clock that was set back must not end sealing.
            Some(last) if !(0..EVERY_MS).contains(&now.millis_since(last)) => self.seal_waiting().await,
            _ => Ok(()),
        }
    }

    /// Seals every entry that is durable now.
    pub(crate) async fn seal_waiting(&self) -> Result<(), SealError> {
        let mut lost = 0;
        loop {
            let unsealed = self.store.unsealed(BATCH).await?;
            if unsealed.entries.is_empty() {
                return Ok(());
            }
            let (key, origins) = (self.log_signer().await?, self.new_origins(&unsealed).await?);
            let batch = batch::batch(&unsealed, &origins, &key, self.now())?;
            let sealed = self.store.seal(batch).await?;
            lost = if sealed { 0 } else { lost + 1 };
            match (sealed, unsealed.more) {
                (true, false) => return Ok(()),
                (false, _) if lost >= TRIES => return Err(SealError::Busy),
                _ => {}
            }
        }
    }

    /// The names of the logs that begin, or begin again in another epoch, with this batch.
    async fn new_origins(&self, unsealed: &Unsealed) -> Result<BTreeMap<RowKey, String>, StoreError> {
        let projects: BTreeSet<RowKey> = unsealed.entries.iter().map(|entry| entry.project).collect();
        let mut origins = BTreeMap::new();
        let known = |key: &RowKey| unsealed.logs.get(key).is_some_and(|log| log.epoch == unsealed.epoch);
        for key in projects.into_iter().filter(|key| !known(key)) {
            let project: Option<Project> = self.get(key).await?;
            let project =
                project.ok_or_else(|| StoreError::Damaged("entries of a project that does not exist".into()))?;
            origins.insert(key, self.log_origin(project.id.as_str(), unsealed.epoch));
        }
        Ok(origins)
    }

    /// A log's name in an epoch: where it is served, without a scheme. It stays when the service moves to another host.
    fn log_origin(&self, project: &str, epoch: i64) -> String {
        let restored = if epoch > FIRST_EPOCH { format!("/{epoch}") } else { String::new() };
        format!("{}/projects/{project}/evidence{restored}", self.settings.origin.authority())
    }

    /// Remembers why sealing fails, for readiness checks: a damaged log ends the service of this node.
    pub(crate) fn note_sealing(&self, sealed: &Result<(), SealError>) {
        let fault = match sealed {
            Err(SealError::Store(why @ StoreError::Damaged(_))) => Some(why.to_string()),
            Err(why) => {
                tracing::warn!(%why, "evidence could not be sealed; it is tried again");
                return;
            }
            Ok(()) => None,
        };
        let Ok(mut known) = self.sealing_fault.lock() else { return };
        if let Some(why) = fault.as_ref().filter(|fault| known.as_ref() != Some(fault)) {
            tracing::error!(alarm = "evidence_damaged", why, "evidence cannot be sealed; this node leaves service");
        }
        *known = fault;
    }
}
