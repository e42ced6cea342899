//! A project's tree as it is stored: complete tiles, and the right edge.

use super::{EvidenceError, batch::edge_tile};
use crate::{engine::Engine, store::LogState};
use countersign_evidence::{
    crypto::Hash,
    merkle::{Node, Plan},
    tile::Tile,
};
use countersign_jose::EvidenceCrypto;
use countersign_protocol::ids::RowKey;
use std::collections::BTreeMap;

impl Engine {
    /// The hashes of a plan in a project's tree.
    pub(super) async fn tree_hashes(
        &self,
        project: RowKey,
        state: &LogState,
        plan: &Plan,
    ) -> Result<Vec<Hash>, EvidenceError> {
        let tiles = self.tiles_of(project, state, plan.nodes()).await?;
        plan.hashes(&EvidenceCrypto, |node| {
            let tile = Tile::of(node, size_of(state)).ok_or_else(missing)?;
            let bytes = tiles.get(&(tile.level, tile.number)).ok_or_else(missing)?;
            tile.hash(&EvidenceCrypto, bytes, node).ok_or_else(missing)
        })
    }

    /// The tiles with these nodes, each read once.
    async fn tiles_of(
        &self,
        project: RowKey,
        state: &LogState,
        nodes: impl Iterator<Item = Node>,
    ) -> Result<BTreeMap<(u8, u64), Vec<u8>>, EvidenceError> {
        let mut tiles = BTreeMap::new();
        let mut wanted = Vec::new();
        for tile in nodes.filter_map(|node| Tile::of(node, size_of(state))) {
            if tile.is_full() {
                wanted.push((tile.level, tile.number));
            } else {
                tiles.insert((tile.level, tile.number), edge_tile(state, tile).ok_or_else(missing)?);
            }
        }
        wanted.sort_unstable();
        wanted.dedup();
        let places = wanted.iter().map(|(level, number)| (i64::from(*level), number.cast_signed())).collect();
        let found = self.store.log_tiles(project, places).await?;
        for (place, bytes) in wanted.into_iter().zip(found) {
            tiles.insert(place, bytes.ok_or_else(missing)?);
        }
        Ok(tiles)
    }
}

pub(super) fn size_of(state: &LogState) -> u64 {
    u64::try_from(state.size).unwrap_or(0)
}

fn missing() -> EvidenceError {
    EvidenceError::Damaged("a tile of the log is missing or too short".into())
}
