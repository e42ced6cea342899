//! Which hashes a root or a proof is made of.

use super::fold;
use crate::crypto::{Crypto, Hash};
use std::ops::Range;

/// A perfect subtree: the 2^`height` leaves from `index`·2^`height` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node {
    pub height: u32,
    pub index: u64,
}

/// The ranges of leaves with the hashes that are wanted, in the order of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan(Vec<Range<u64>>);

impl Plan {
    /// The root of the tree with `size` leaves.
    pub fn root(size: u64) -> Self {
        Self(std::iter::once(0..size).collect())
    }

    /// The inclusion path of a leaf, from its sibling upwards (RFC 6962, 2.1.1). None if the tree has no such leaf.
    pub fn inclusion(index: u64, size: u64) -> Option<Self> {
        if index >= size {
            return None;
        }
        let (mut within, mut siblings) = (0..size, Vec::new());
        while within.end - within.start > 1 {
            let (left, right) = halves(&within);
            let (next, sibling) = if index < left.end { (left, right) } else { (right, left) };
            siblings.push(sibling);
            within = next;
        }
        siblings.reverse();
        Some(Self(siblings))
    }

    /// The proof that the tree with `new` leaves continues the one with `old` (RFC 6962, 2.1.2). Empty from the empty
    /// tree and between equal sizes. None if `new` is the smaller.
    pub fn consistency(old: u64, new: u64) -> Option<Self> {
        if old > new {
            return None;
        }
        if old == 0 || old == new {
            return Some(Self(Vec::new()));
        }
        let (mut within, mut parts) = (0..new, Vec::new());
        // The tree with `old` leaves is what its verifier has, unless something lies to its left.
        while within.end != old {
            let (left, right) = halves(&within);
            let (next, part) = if old <= left.end { (left, right) } else { (right, left) };
            parts.push(part);
            within = next;
        }
        parts.extend((within.start > 0).then_some(within));
        parts.reverse();
        Some(Self(parts))
    }

    /// The perfect subtrees to read.
    pub fn nodes(&self) -> impl Iterator<Item = Node> {
        self.0.iter().flat_map(perfect)
    }

    /// The hashes of the ranges.
    pub fn hashes<E>(
        &self,
        crypto: &impl Crypto,
        mut read: impl FnMut(Node) -> Result<Hash, E>,
    ) -> Result<Vec<Hash>, E> {
        let hash_of = |range: &Range<u64>| {
            let subtrees = perfect(range).map(&mut read).collect::<Result<Vec<_>, E>>()?;
            Ok(fold(crypto, &subtrees))
        };
        self.0.iter().map(hash_of).collect()
    }

    /// The hash of the only range, for [`Plan::root`].
    pub fn hash<E>(&self, crypto: &impl Crypto, read: impl FnMut(Node) -> Result<Hash, E>) -> Result<Hash, E> {
        Ok(fold(crypto, &self.hashes(crypto, read)?))
    }
}

/// Split at the largest power of two below the length.
fn halves(range: &Range<u64>) -> (Range<u64>, Range<u64>) {
    let last = (range.end - range.start).saturating_sub(1).max(1);
    let middle = range.start + (1 << last.ilog2());
    (range.start..middle, middle..range.end)
}

/// The perfect subtrees of a range from left to right. Its start is a multiple of the largest of them.
fn perfect(range: &Range<u64>) -> impl Iterator<Item = Node> + use<> {
    let Range { mut start, end } = *range;
    std::iter::from_fn(move || {
        let height = end.checked_sub(start)?.checked_ilog2()?;
        let node = Node { height, index: start >> height };
        start += 1 << height;
        Some(node)
    })
}
