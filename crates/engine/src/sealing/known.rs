//! The database's logs against the checkpoints that are known beside it.

use super::{
    EvidenceError,
    files::{self, CheckpointFolder, FoundCheckpoint, Keeps},
    tree::size_of,
};
use crate::{
    engine::Engine,
    store::{LogState, StoreError},
};
use countersign_core::records::Epoch;
use countersign_evidence::note::VerifierKey;
use countersign_protocol::{evidence, hash::Digest, ids::RowKey, time::UnixMillis};
use std::{
    collections::BTreeMap,
    io,
    path::PathBuf,
    sync::{Arc, Mutex},
};

/// The settings of the transparency log.
#[derive(Clone, Debug, Default)]
pub struct EvidenceSettings {
    /// The folder with the newest checkpoint of each log, which this node keeps beside the database.
    pub newest: Option<PathBuf>,
    /// The append-only folder for one checkpoint of each log a minute.
    pub files: Option<PathBuf>,
    pub witnesses: Vec<Witness>,
}

/// A witness of the logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The address before `/add-checkpoint`.
    pub url: String,
    pub key: VerifierKey,
}

/// How a log differs from a checkpoint that is known beside the database.
#[derive(Debug, thiserror::Error)]
pub enum LogMismatch {
    #[error(
        "the log {origin} has {size} entries, and the checkpoint {} has {known}: the entries from index {size} on are \
         missing. Bring the newest database back, or run `countersign restore --adopt` if it is lost", .path.display()
    )]
    Older { origin: String, size: u64, known: u64, path: PathBuf },
    #[error(
        "the log {origin} does not fit the checkpoint {}: {entry}. Somebody changed the database: bring an unchanged one \
         back, or run `countersign restore --adopt` to go on with this one in a new epoch", .path.display()
    )]
    Rewritten { origin: String, path: PathBuf, entry: String },
    #[error("the checkpoints beside the database cannot be read: {0}")]
    Files(#[from] io::Error),
    #[error(transparent)]
    Log(#[from] EvidenceError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How often a checkpoint of a log is added to the append-only folder.
const FILES_EVERY_MS: i64 = 60_000;
const CHUNK: i64 = 1024;

/// The last written checkpoints, by project.
pub(crate) type WrittenCheckpoints = Mutex<BTreeMap<RowKey, Written>>;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Written {
    size: i64,
    file_at: Option<UnixMillis>,
    file_size: i64,
}

impl Engine {
    fn checkpoint_folders(&self) -> Vec<CheckpointFolder> {
        let EvidenceSettings { newest, files, .. } = &self.settings.evidence;
        let newest = newest.iter().map(|path| CheckpointFolder::new(path.clone(), Keeps::Newest));
        newest.chain(files.iter().map(|path| CheckpointFolder::new(path.clone(), Keeps::All))).collect()
    }

    /// Whether every log continues every checkpoint that is known beside the database. A later epoch is another log: the
    /// person who started it has answered for everything before it.
    pub(crate) async fn compare_with_known_checkpoints(self: &Arc<Self>) -> Result<(), LogMismatch> {
        let epoch = self.epoch_number().await?;
        let projects = self.projects().await?;
        for folder in self.checkpoint_folders() {
            for id in folder.projects()? {
                let key = projects.iter().find(|project| project.id.as_str() == id).map(|project| project.key);
                let state = match key {
                    Some(key) => self.store.log_state(key).await?.map(|state| (key, state)),
                    None => None,
                };
                if state.as_ref().is_some_and(|(_, state)| state.epoch != epoch) {
                    continue;
                }
                let origin = state.as_ref().map(|(_, state)| state.origin.clone());
                let origin = origin.unwrap_or_else(|| self.log_origin(&id, epoch));
                self.compare(&folder, &id, &origin, state.as_ref()).await?;
            }
        }
        Ok(())
    }

    pub(super) async fn epoch_number(&self) -> Result<i64, StoreError> {
        const EPOCH: RowKey = 1;
        Ok(self.get::<Epoch>(EPOCH).await?.map_or(1, |epoch| epoch.number))
    }

    async fn compare(
        self: &Arc<Self>,
        folder: &CheckpointFolder,
        id: &str,
        origin: &str,
        state: Option<&(RowKey, LogState)>,
    ) -> Result<(), LogMismatch> {
        let files = folder.of_log(id, origin)?;
        let Some(known) = files.first().and_then(|path| files::read(path)) else { return Ok(()) };
        let size = state.map_or(0, |(_, state)| size_of(state));
        if size < known.checkpoint.size {
            let (origin, path) = (origin.to_owned(), known.path);
            return Err(LogMismatch::Older { origin, size, known: known.checkpoint.size, path });
        }
        let Some((project, _)) = state else { return Ok(()) };
        if self.fits(*project, &known).await? {
            return Ok(());
        }
        let mut from = 0;
        for older in files.iter().skip(1).filter_map(|path| files::read(path)) {
            if self.fits(*project, &older).await? {
                from = older.checkpoint.size;
                break;
            }
        }
        let entry = self.broken_entry(*project, from, known.checkpoint.size).await?;
        Err(LogMismatch::Rewritten { origin: origin.to_owned(), path: known.path, entry })
    }

    async fn fits(self: &Arc<Self>, project: RowKey, known: &FoundCheckpoint) -> Result<bool, EvidenceError> {
        let root = self.evidence().root_at(project, known.checkpoint.size).await;
        match root {
            Ok(root) => Ok(root.0 == known.checkpoint.root),
            // Without its tiles it certainly does not fit.
            Err(EvidenceError::Damaged(_)) => Ok(false),
            Err(why) => Err(why),
        }
    }

    /// The first entry that is not what the tree was built of; without one, the tree itself was rewritten with its entries.
    async fn broken_entry(self: &Arc<Self>, project: RowKey, from: u64, to: u64) -> Result<String, EvidenceError> {
        let (mut next, end) = (from.cast_signed(), to.cast_signed());
        while next < end {
            let until = end.min(next.saturating_add(CHUNK));
            let entries = self.store.log_entries(project, next, until).await?;
            for (index, entry) in (next..until).zip(entries.iter().map(Some).chain(std::iter::repeat(None))) {
                let Some(entry) = entry.filter(|entry| entry.index == index) else {
                    return Ok(format!("the entry with index {index} is missing"));
                };
                if self.leaf_in_tree(project, index.cast_unsigned()).await? != Some(evidence::leaf_hash(&entry.leaf)) {
                    let (lane, seq) = (entry.lane, entry.seq);
                    return Ok(format!("the entry with index {index} (lane {lane}, number {seq}) is another one"));
                }
            }
            next = until;
        }
        Ok(format!("an entry with an index from {from} to {} was rewritten with its tree", to.saturating_sub(1)))
    }

    async fn leaf_in_tree(self: &Arc<Self>, project: RowKey, index: u64) -> Result<Option<Digest>, EvidenceError> {
        match self.evidence().leaf_hash_at(project, index).await {
            Ok(hash) => Ok(Some(hash)),
            Err(EvidenceError::Damaged(_) | EvidenceError::NoTile) => Ok(None),
            Err(why) => Err(why),
        }
    }

    /// Writes the newest checkpoints into the files beside the database, as far as they are new.
    pub(crate) async fn keep_checkpoints(self: &Arc<Self>) -> Result<(), LogMismatch> {
        let folders = self.checkpoint_folders();
        if folders.is_empty() {
            return Ok(());
        }
        let (sizes, now) = (self.store.log_sizes().await?, self.now());
        for (project, size) in sizes {
            let written = self.written_checkpoint(project);
            let wanted: Vec<CheckpointFolder> =
                folders.iter().filter(|folder| written.wants(folder.keeps(), size, now)).cloned().collect();
            if !wanted.is_empty() {
                self.write_checkpoint(project, written, wanted, now).await?;
            }
        }
        Ok(())
    }

    async fn write_checkpoint(
        self: &Arc<Self>,
        project: RowKey,
        mut written: Written,
        folders: Vec<CheckpointFolder>,
        now: UnixMillis,
    ) -> Result<(), LogMismatch> {
        let record = self.get::<countersign_core::records::Project>(project).await?;
        let Some(id) = record.map(|record| record.id.to_string()) else { return Ok(()) };
        let signed = self.evidence().checkpoint(project).await?;
        for folder in &folders {
            written.note(folder.keeps(), signed.size.cast_signed(), now);
        }
        let write = move || folders.iter().try_for_each(|folder| folder.write(&id, signed.size, &signed.note));
        tokio::task::spawn_blocking(write).await.map_err(io::Error::other)??;
        if let Ok(mut all) = self.written_checkpoints.lock() {
            all.insert(project, written);
        }
        Ok(())
    }

    fn written_checkpoint(&self, project: RowKey) -> Written {
        self.written_checkpoints.lock().ok().and_then(|all| all.get(&project).copied()).unwrap_or_default()
    }
}

impl Written {
    fn wants(&self, keeps: Keeps, size: i64, now: UnixMillis) -> bool {
        match keeps {
            Keeps::Newest => self.size != size,
            Keeps::All => {
                let recent = self.file_at.is_some_and(|at| (0..FILES_EVERY_MS).contains(&now.millis_since(at)));
                self.file_size != size && !recent
            }
        }
    }

    fn note(&mut self, keeps: Keeps, size: i64, now: UnixMillis) {
        match keeps {
            Keeps::Newest => self.size = size,
            Keeps::All => (self.file_at, self.file_size) = (Some(now), size),
        }
    }
}
