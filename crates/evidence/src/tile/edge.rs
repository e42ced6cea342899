//! The right edge of a tree: all that an append needs.

use super::{Tile, WIDTH, perfect_root};
use crate::{
    crypto::{Crypto, Hash},
    merkle,
};

/// The incomplete tile of each level. Appending needs no other hash, and the root is a fold over them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RightEdge {
    size: u64,
    /// The hashes of each level's last tile, as long as it is not full.
    levels: Vec<Vec<Hash>>,
}

impl RightEdge {
    /// The edge of a stored tree, from the bytes of its incomplete tiles. None if their lengths do not fit the size.
    pub fn restore(size: u64, tile: impl Fn(Tile) -> Option<Vec<u8>>) -> Option<Self> {
        let mut levels = Vec::new();
        for level in (0_u8..).take_while(|level| size.checked_shr(8 * u32::from(*level)).is_some_and(|left| left > 0)) {
            let count = size >> (8 * u32::from(level));
            let bytes = match count % WIDTH {
                0 => Vec::new(),
                width => {
                    let width = u16::try_from(width).ok()?;
                    tile(Tile { level, number: count / WIDTH, width })?
                }
            };
            let (hashes, rest) = bytes.as_chunks::<32>();
            if !rest.is_empty() || u64::try_from(hashes.len()) != Ok(count % WIDTH) {
                return None;
            }
            levels.push(hashes.to_vec());
        }
        Some(Self { size, levels })
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    /// Appends a leaf hash; `full` receives each tile that this completes.
    pub fn push(&mut self, crypto: &impl Crypto, leaf: Hash, mut full: impl FnMut(Tile, Vec<u8>)) {
        self.size += 1;
        let mut hash = leaf;
        for level in 0_u8.. {
            if self.levels.len() <= usize::from(level) {
                self.levels.push(Vec::new());
            }
            let Some(hashes) = self.levels.get_mut(usize::from(level)) else { return };
            hashes.push(hash);
            if hashes.len() < WIDTH as usize {
                return;
            }
            let number = (self.size >> (8 * (u32::from(level) + 1))) - 1;
            full(Tile { level, number, width: WIDTH as u16 }, hashes.concat());
            hash = perfect_root(crypto, hashes);
            hashes.clear();
        }
    }

    /// The incomplete tiles with their bytes, as they are served for the checkpoint of this size.
    pub fn tiles(&self) -> impl Iterator<Item = (Tile, Vec<u8>)> {
        (0_u8..).zip(&self.levels).filter(|(_, hashes)| !hashes.is_empty()).map(|(level, hashes)| {
            let number = (self.size >> (8 * u32::from(level))) / WIDTH;
            (Tile { level, number, width: hashes.len() as u16 }, hashes.concat())
        })
    }

    pub fn root(&self, crypto: &impl Crypto) -> Hash {
        let mut subtrees = Vec::new();
        for hashes in self.levels.iter().rev() {
            let mut rest = hashes.as_slice();
            while let Some(height) = rest.len().checked_ilog2() {
                let (perfect, right) = rest.split_at(1 << height);
                subtrees.push(perfect_root(crypto, perfect));
                rest = right;
            }
        }
        merkle::fold(crypto, &subtrees)
    }
}
