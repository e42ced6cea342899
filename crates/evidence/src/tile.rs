//! Tiles: 256 hashes of one level in one file (C2SP tlog-tiles).

mod edge;

pub use edge::RightEdge;

use crate::{
    crypto::{Crypto, Hash},
    merkle::{self, Node},
};
use std::ops::Range;

/// Hashes of a full tile.
pub const WIDTH: u64 = 256;
/// Levels of the tree in a tile.
const HEIGHT: u32 = 8;
/// The highest level that a tree of 2^63 leaves needs.
const TOP: u8 = 7;

/// A tile's coordinates. Its hashes are those of the subtrees of 256^`level` leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tile {
    pub level: u8,
    pub number: u64,
    /// How many hashes it has: 256, or fewer at the right edge.
    pub width: u16,
}

impl Tile {
    /// The tile of a tree of this size that has (or yields) a subtree's hash.
    pub fn of(node: Node, size: u64) -> Option<Self> {
        let level = u8::try_from(node.height / HEIGHT).ok().filter(|level| *level <= TOP)?;
        let first = node.index.checked_shl(node.height % HEIGHT)?;
        Self::at(level, first / WIDTH, size)
    }

    /// The tile with this number in a tree of this size, full or as wide as the size leaves it.
    pub fn at(level: u8, number: u64, size: u64) -> Option<Self> {
        let hashes = size.checked_shr(u32::from(level) * HEIGHT)?;
        let width = hashes.checked_sub(number.checked_mul(WIDTH)?)?.min(WIDTH);
        Some(Self { level, number, width: u16::try_from(width).ok().filter(|width| *width > 0)? })
    }

    pub fn is_full(self) -> bool {
        u64::from(self.width) == WIDTH
    }

    /// `tile/L/N[.p/W]`, relative to the log's prefix.
    pub fn path(self) -> String {
        format!("tile/{}/{}{}", self.level, number_path(self.number), self.suffix())
    }

    /// `tile/entries/N[.p/W]` of the entries below a tile of level 0.
    pub fn entries_path(self) -> String {
        format!("tile/entries/{}{}", number_path(self.number), self.suffix())
    }

    fn suffix(self) -> String {
        if self.is_full() { String::new() } else { format!(".p/{}", self.width) }
    }

    /// The leaves below a tile of level 0.
    pub fn leaves(self) -> Range<u64> {
        let first = self.number.saturating_mul(WIDTH);
        first..first.saturating_add(u64::from(self.width))
    }

    /// The hash of a subtree, from the bytes of its tile. None if the tile is another one, or too short.
    pub fn hash(self, crypto: &impl Crypto, bytes: &[u8], node: Node) -> Option<Hash> {
        let lift = node.height % HEIGHT;
        let first = node.index.checked_shl(lift)?;
        if u8::try_from(node.height / HEIGHT) != Ok(self.level) || first / WIDTH != self.number {
            return None;
        }
        let from = usize::try_from(first % WIDTH).ok()?;
        let hashes = bytes.as_chunks::<32>().0.get(from..from + (1 << lift))?;
        Some(perfect_root(crypto, hashes))
    }
}

/// What a tile's path names: a tile of hashes, or the entries below one of level 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    Hashes(Tile),
    Entries(Tile),
}

impl Path {
    /// Reads `L/N[.p/W]` or `entries/N[.p/W]` (the part after `tile/`). Every tile has exactly one spelling.
    pub fn parse(text: &str) -> Option<Self> {
        let (level, rest) = text.split_once('/')?;
        let (number, width) = match rest.split_once(".p/") {
            Some((number, width)) => (number, decimal(width).filter(|width| (1..WIDTH).contains(width))?),
            None => (rest, WIDTH),
        };
        let (number, width) = (parse_number(number)?, u16::try_from(width).ok()?);
        match level {
            "entries" => Some(Self::Entries(Tile { level: 0, number, width })),
            _ => {
                let level = u8::try_from(decimal(level)?).ok().filter(|level| *level <= TOP)?;
                Some(Self::Hashes(Tile { level, number, width }))
            }
        }
    }
}

/// The tiles that come or change when a tree grows: the ones to write, full ones and the right edge.
pub fn changed(old: u64, new: u64) -> Vec<Tile> {
    let mut tiles = Vec::new();
    for level in 0..=TOP {
        let shift = u32::from(level) * HEIGHT;
        let (from, to) = (old >> shift, new >> shift);
        if from >= to {
            break;
        }
        tiles.extend((from / WIDTH..=(to - 1) / WIDTH).filter_map(|number| Tile::at(level, number, new)));
    }
    tiles
}

/// The root over a power of two of hashes.
fn perfect_root(crypto: &impl Crypto, hashes: &[Hash]) -> Hash {
    let mut level = hashes.to_vec();
    while level.len() > 1 {
        level = level.as_chunks::<2>().0.iter().map(|[left, right]| merkle::node_hash(crypto, left, right)).collect();
    }
    level.first().copied().unwrap_or_else(|| merkle::empty_root(crypto))
}

/// `1234067` → `x001/x234/067`.
fn number_path(number: u64) -> String {
    let last = format!("{:03}", number % 1000);
    let mut rest = number / 1000;
    let mut path = last;
    while rest > 0 {
        path = format!("x{:03}/{path}", rest % 1000);
        rest /= 1000;
    }
    path
}

fn parse_number(path: &str) -> Option<u64> {
    let mut number = 0_u64;
    let mut parts = path.split('/').peekable();
    while let Some(part) = parts.next() {
        let digits = if parts.peek().is_some() { part.strip_prefix('x')? } else { part };
        let value =
            Some(digits).filter(|digits| digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit()))?;
        number = number.checked_mul(1000)?.checked_add(value.parse().ok()?)?;
    }
    Some(number).filter(|number| number_path(*number) == path)
}

/// A decimal number without sign and leading zeros.
pub(crate) fn decimal(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|_| plain)
}

#[cfg(test)]
mod go_judge;
#[cfg(test)]
mod tests;
