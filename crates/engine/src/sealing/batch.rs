//! What sealing a batch of entries changes: a pure function of the entries and of the trees they continue.

use crate::store::{
    CompleteTile, LogSegment, LogState, LogTail, SealBatch, SealedLog, StoreError, Unsealed, UnsealedEntry,
};
use countersign_evidence::{
    checkpoint::Checkpoint,
    crypto::Hash,
    tile::{RightEdge, Tile},
};
use countersign_jose::{EvidenceCrypto, NoteKey};
use countersign_protocol::{evidence, hash::Digest, ids::RowKey, time::UnixMillis};
use std::collections::BTreeMap;

/// The batch, with a signed checkpoint of every project in it. `origins`: of the logs that begin with it, or begin again.
pub(super) fn batch(
    unsealed: &Unsealed,
    origins: &BTreeMap<RowKey, String>,
    key: &NoteKey,
    now: UnixMillis,
) -> Result<SealBatch, StoreError> {
    let mut projects: BTreeMap<RowKey, Vec<&UnsealedEntry>> = BTreeMap::new();
    let mut lanes = BTreeMap::new();
    for entry in &unsealed.entries {
        projects.entry(entry.project).or_default().push(entry);
        lanes.insert(entry.lane, entry.pos);
    }
    let sealed = |(project, entries): (&RowKey, &Vec<&UnsealedEntry>)| {
        GrowingLog::of(unsealed, origins, *project)?.seal(unsealed, entries, key)
    };
    let logs = projects.iter().map(sealed).collect::<Result<_, _>>()?;
    Ok(SealBatch { version: unsealed.version, sealed_at: now, lanes, logs })
}

struct GrowingLog {
    project: RowKey,
    origin: String,
    epoch: i64,
    size_before: i64,
    edge: RightEdge,
    tiles: Vec<CompleteTile>,
    segments: Vec<LogSegment>,
}

impl GrowingLog {
    fn of(unsealed: &Unsealed, origins: &BTreeMap<RowKey, String>, project: RowKey) -> Result<Self, StoreError> {
        let (known, size_before, edge) = match unsealed.logs.get(&project) {
            Some(state) => (state.origin.clone(), state.size, restored(state)?),
            None => (String::new(), 0, RightEdge::default()),
        };
        let origin = origins.get(&project).cloned().unwrap_or(known);
        Ok(Self { project, origin, epoch: unsealed.epoch, size_before, edge, tiles: Vec::new(), segments: Vec::new() })
    }

    fn seal(mut self, unsealed: &Unsealed, entries: &[&UnsealedEntry], key: &NoteKey) -> Result<SealedLog, StoreError> {
        for run in entries.chunk_by(|a, b| a.lane == b.lane) {
            self.append(unsealed, run)?;
        }
        let root = self.edge.root(&EvidenceCrypto);
        let checkpoint = Checkpoint::new(&self.origin, self.edge.size(), root);
        let note = checkpoint.sign(&EvidenceCrypto, &key.public(), |text| key.sign(text));
        let note = note.ok_or_else(|| StoreError::Damaged(format!("{:?} is no name of a log", self.origin)))?;
        let state = LogState {
            origin: self.origin,
            epoch: self.epoch,
            size: i64::try_from(self.edge.size()).unwrap_or(i64::MAX),
            root: Digest(root),
            edge: self.edge.tiles().flat_map(|(_, hashes)| hashes).collect(),
        };
        Ok(SealedLog {
            project: self.project,
            size_before: self.size_before,
            state,
            tiles: self.tiles,
            segments: self.segments,
            note: note.to_string(),
        })
    }

    /// Appends the entries of one lane, which continue its last sealed one.
    fn append(&mut self, unsealed: &Unsealed, run: &[&UnsealedEntry]) -> Result<(), StoreError> {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { return Ok(()) };
        let place = (self.project, first.lane);
        let first_index = i64::try_from(self.edge.size()).unwrap_or(i64::MAX);
        let mut tail = unsealed.tails.get(&place).copied().unwrap_or(LogTail::START);
        for entry in run {
            if entry.seq != tail.seq.saturating_add(1) {
                return Err(broken(entry, &format!("has number {} and follows number {}", entry.seq, tail.seq)));
            }
            tail = LogTail { seq: entry.seq, chain: evidence::chain(&tail.chain, entry.seq, &entry.hash) };
            self.push(entry.hash.0);
        }
        // The writer kept the running hash when it wrote the entries, so one that was changed since does not fit.
        match unsealed.heads.get(&place) {
            Some(head) if head.seq == tail.seq && head.chain != tail.chain => {
                return Err(broken(last, "does not lead to the running hash of its lane"));
            }
            Some(head) if head.seq >= tail.seq => {}
            _ => return Err(broken(last, "is not counted by the head of its lane")),
        }
        self.segments.push(LogSegment {
            first_index,
            lane: first.lane,
            first_seq: first.seq,
            last_seq: last.seq,
            first_pos: first.pos,
            last_pos: last.pos,
            chain: tail.chain,
        });
        Ok(())
    }

    fn push(&mut self, leaf: Hash) {
        let tiles = &mut self.tiles;
        self.edge.push(&EvidenceCrypto, leaf, |tile, hashes| {
            let number = i64::try_from(tile.number).unwrap_or(i64::MAX);
            tiles.push(CompleteTile { level: tile.level.into(), number, hashes });
        });
    }
}

/// The right edge of a stored tree, which must have the stored root.
pub(super) fn restored(state: &LogState) -> Result<RightEdge, StoreError> {
    let size = u64::try_from(state.size).unwrap_or(0);
    let edge = RightEdge::restore(size, |tile| edge_tile(state, tile));
    let edge = edge.filter(|edge| edge.root(&EvidenceCrypto) == state.root.0);
    edge.ok_or_else(|| StoreError::Damaged(format!("the right edge of the log {} does not fit its root", state.origin)))
}

/// The bytes of an incomplete tile.
pub(super) fn edge_tile(state: &LogState, wanted: Tile) -> Option<Vec<u8>> {
    let size = u64::try_from(state.size).ok()?;
    let width = |level: u8| size.checked_shr(8 * u32::from(level)).unwrap_or(0) % 256 * 32;
    let before: u64 = (0..wanted.level).map(width).sum();
    let (from, to) = (usize::try_from(before).ok()?, usize::try_from(before + width(wanted.level)).ok()?);
    state.edge.get(from..to).map(<[u8]>::to_vec)
}

fn broken(entry: &UnsealedEntry, how: &str) -> StoreError {
    let UnsealedEntry { lane, pos, .. } = entry;
    StoreError::Damaged(format!("the entry at position {pos} of lane {lane} of the evidence {how}"))
}
