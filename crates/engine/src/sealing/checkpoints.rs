//! What a log shows: its signed checkpoints, the proofs in them, its tiles and its keys.

use super::{SealError, batch::edge_tile, tree::size_of};
use crate::{
    keys::KeysError,
    services::Evidence,
    store::{LogState, StoreError, StoredCheckpoint},
};
use countersign_core::{records::LogKey, refusal::Refusal};
use countersign_evidence::{
    crypto::Hash,
    merkle::Plan,
    note::{Algorithm, VerifierKey},
    tile::Tile,
};
use countersign_jose::EvidenceCrypto;
use countersign_protocol::{hash::Digest, ids::RowKey, time::UnixMillis};

/// A checkpoint as it was signed, with all cosignatures that it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedCheckpoint {
    pub size: u64,
    pub root: Digest,
    pub at: UnixMillis,
    /// The signed note.
    pub note: String,
    /// The number of witnesses that cosigned it.
    pub witnesses: usize,
}

/// The proof that an entry is in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InclusionProof {
    pub index: u64,
    /// From the leaf's sibling upwards.
    pub path: Vec<Hash>,
    pub checkpoint: SignedCheckpoint,
}

impl SignedCheckpoint {
    pub(super) fn unwitnessed(stored: StoredCheckpoint) -> Self {
        let StoredCheckpoint { size, at, root, note } = stored;
        Self { size: u64::try_from(size).unwrap_or(0), root, at, note, witnesses: 0 }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum EvidenceError {
    #[error("the log has no such checkpoint")]
    NoCheckpoint,
    #[error("the entry is not in that checkpoint")]
    NotSealed,
    #[error("the log has no such tile")]
    NoTile,
    #[error("the log is damaged: {0}")]
    Damaged(String),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Keys(#[from] KeysError),
    #[error(transparent)]
    Sealing(SealError),
}

impl From<SealError> for EvidenceError {
    fn from(why: SealError) -> Self {
        match why {
            SealError::Store(StoreError::Damaged(why)) => Self::Damaged(why),
            other => Self::Sealing(other),
        }
    }
}

impl From<EvidenceError> for Refusal {
    fn from(why: EvidenceError) -> Self {
        match why {
            EvidenceError::NoCheckpoint | EvidenceError::NotSealed | EvidenceError::NoTile => {
                Self::NotFound(why.to_string())
            }
            other => {
                tracing::error!(why = %other, "the log could not be read");
                Self::Unavailable
            }
        }
    }
}

impl Evidence<'_> {
    /// Seals everything that is durable, and returns the checkpoint that covers it.
    pub async fn checkpoint_now(self, project: RowKey) -> Result<SignedCheckpoint, EvidenceError> {
        self.seal_waiting().await?;
        self.checkpoint(project).await
    }

    /// The newest checkpoint.
    pub async fn checkpoint(self, project: RowKey) -> Result<SignedCheckpoint, EvidenceError> {
        self.checkpoint_up_to(project, u64::MAX).await
    }

    /// The newest checkpoint up to a size.
    pub async fn checkpoint_up_to(self, project: RowKey, size: u64) -> Result<SignedCheckpoint, EvidenceError> {
        let up_to = i64::try_from(size).unwrap_or(i64::MAX);
        let stored = self.store.checkpoint(project, up_to).await?.ok_or(EvidenceError::NoCheckpoint)?;
        self.with_cosignatures(project, stored).await
    }

    /// The newest checkpoint that a witness cosigned; without any, the newest one.
    pub async fn cosigned_checkpoint(self, project: RowKey) -> Result<SignedCheckpoint, EvidenceError> {
        match self.store.cosigned_checkpoint(project).await? {
            Some(stored) => self.with_cosignatures(project, stored).await,
            None => self.checkpoint(project).await,
        }
    }

    async fn with_cosignatures(
        self,
        project: RowKey,
        stored: StoredCheckpoint,
    ) -> Result<SignedCheckpoint, EvidenceError> {
        let cosignatures = self.store.cosignatures(project, stored.size).await?;
        let mut signed = SignedCheckpoint::unwitnessed(stored);
        signed.witnesses = cosignatures.len();
        signed.note.extend(cosignatures.iter().flat_map(|cosignature| [cosignature.line.as_str(), "\n"]));
        Ok(signed)
    }

    /// Proves an entry in the newest checkpoint, or in the newest one up to a size.
    pub async fn proof_of(
        self,
        project: RowKey,
        lane: i64,
        seq: i64,
        up_to: Option<u64>,
    ) -> Result<InclusionProof, EvidenceError> {
        let segment = self.store.log_segment(project, lane, seq).await?.ok_or(EvidenceError::NotSealed)?;
        let index = segment.first_index.saturating_add(seq.saturating_sub(segment.first_seq));
        let index = u64::try_from(index).map_err(|_| EvidenceError::NotSealed)?;
        let checkpoint = self.checkpoint_up_to(project, up_to.unwrap_or(u64::MAX)).await?;
        let plan = Plan::inclusion(index, checkpoint.size).ok_or(EvidenceError::NotSealed)?;
        let state = self.log_of(project).await?;
        let path = self.tree_hashes(project, &state, &plan).await?;
        Ok(InclusionProof { index, path, checkpoint })
    }

    /// The proof that the tree of one size continues that of another.
    pub async fn consistency_of(self, project: RowKey, old: u64, new: u64) -> Result<Vec<Hash>, EvidenceError> {
        let state = self.log_of(project).await?;
        let plan = Plan::consistency(old, new).filter(|_| new <= size_of(&state)).ok_or(EvidenceError::NoCheckpoint)?;
        self.tree_hashes(project, &state, &plan).await
    }

    /// The root of the tree when it had this size.
    pub async fn root_at(self, project: RowKey, size: u64) -> Result<Digest, EvidenceError> {
        let state = self.log_of(project).await?;
        if size > size_of(&state) {
            return Err(EvidenceError::NoCheckpoint);
        }
        let plan = Plan::root(size);
        let hashes = self.tree_hashes(project, &state, &plan).await?;
        hashes.first().map(|root| Digest(*root)).ok_or(EvidenceError::NoCheckpoint)
    }

    /// The hash of an entry as the tree has it.
    pub(super) async fn leaf_hash_at(self, project: RowKey, index: u64) -> Result<Digest, EvidenceError> {
        let (number, within) = (index / 256, usize::try_from(index % 256).unwrap_or(0));
        let width = u16::try_from(within + 1).unwrap_or(u16::MAX);
        let hashes = self.tile(project, Tile { level: 0, number, width }).await?;
        let hash = hashes.get(within * 32..).and_then(|hash| hash.try_into().ok());
        hash.map(Digest).ok_or(EvidenceError::NoTile)
    }

    /// The hashes of a tile, as wide as it was asked for.
    pub async fn tile(self, project: RowKey, tile: Tile) -> Result<Vec<u8>, EvidenceError> {
        let state = self.log_of(project).await?;
        let now = Tile::at(tile.level, tile.number, size_of(&state)).filter(|now| now.width >= tile.width);
        let now = now.ok_or(EvidenceError::NoTile)?;
        let hashes = if now.is_full() {
            let place = (i64::from(now.level), now.number.cast_signed());
            self.store.log_tiles(project, vec![place]).await?.into_iter().next().flatten()
        } else {
            edge_tile(&state, now)
        };
        let hashes = hashes.ok_or_else(|| EvidenceError::Damaged("a tile is missing".into()))?;
        hashes.get(..usize::from(tile.width) * 32).map(<[u8]>::to_vec).ok_or(EvidenceError::NoTile)
    }

    /// The entries below a tile of level 0, each with its length in 16 bits before it. Openings are never among them.
    pub async fn entry_bundle(self, project: RowKey, tile: Tile) -> Result<Vec<u8>, EvidenceError> {
        let state = self.log_of(project).await?;
        let leaves = tile.leaves();
        if leaves.end > size_of(&state) {
            return Err(EvidenceError::NoTile);
        }
        let (from, to) = (leaves.start.cast_signed(), leaves.end.cast_signed());
        let entries = self.store.log_entries(project, from, to).await?;
        if entries.iter().map(|entry| entry.index).ne(from..to) {
            return Err(EvidenceError::Damaged(format!("of the entries from index {from} to {to} some are missing")));
        }
        let mut bundle = Vec::new();
        for entry in entries {
            let length = u16::try_from(entry.leaf.len());
            let length = length.map_err(|_| EvidenceError::Damaged(format!("entry {} is too long", entry.index)))?;
            bundle.extend(length.to_be_bytes());
            bundle.extend(entry.leaf);
        }
        Ok(bundle)
    }

    /// The keys that verify the project's checkpoints, oldest first, each with its record.
    pub async fn verifier_keys(self, project: RowKey) -> Result<Vec<(VerifierKey, LogKey)>, EvidenceError> {
        let state = self.log_of(project).await?;
        let keys = self.log_keys().await?;
        let named = |key: LogKey| {
            let public = *key.public.bytes();
            Some((VerifierKey::new(&EvidenceCrypto, &state.origin, Algorithm::Ed25519, public)?, key))
        };
        Ok(keys.into_iter().filter_map(named).collect())
    }

    pub(super) async fn log_of(self, project: RowKey) -> Result<LogState, EvidenceError> {
        self.store.log_state(project).await?.ok_or(EvidenceError::NoCheckpoint)
    }
}
