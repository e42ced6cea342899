//! Verification of proofs (RFC 9162, 2.1.3.2 and 2.1.4.2, which is RFC 6962's structure).

use super::node_hash;
use crate::crypto::{Crypto, Hash};

/// Why a proof does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unproven {
    #[error("the tree has no leaf with this index")]
    OutsideTheTree,
    #[error("the proof has the wrong length for these tree sizes")]
    WrongLength,
    #[error("the proof leads to another root")]
    OtherRoot,
    #[error("the proof leads to another root of the older tree")]
    OtherOldRoot,
}

/// Checks that the tree with this root has `leaf` (a leaf hash) at `index`.
pub fn inclusion(
    crypto: &impl Crypto,
    leaf: &Hash,
    index: u64,
    (size, root): (u64, &Hash),
    path: &[Hash],
) -> Result<(), Unproven> {
    if index >= size {
        return Err(Unproven::OutsideTheTree);
    }
    let mut at = Position { node: index, last: size - 1 };
    let mut hash = *leaf;
    for sibling in path {
        if at.is_root() {
            return Err(Unproven::WrongLength);
        }
        hash = match at.joins_the_left() {
            true => node_hash(crypto, sibling, &hash),
            false => node_hash(crypto, &hash, sibling),
        };
        at.ascend();
    }
    if !at.is_root() {
        return Err(Unproven::WrongLength);
    }
    if hash == *root { Ok(()) } else { Err(Unproven::OtherRoot) }
}

/// Checks that the tree `new` begins with all the leaves of the tree `old`, in the same places.
pub fn consistency(
    crypto: &impl Crypto,
    (old, old_root): (u64, &Hash),
    (new, new_root): (u64, &Hash),
    proof: &[Hash],
) -> Result<(), Unproven> {
    if old > new {
        return Err(Unproven::OutsideTheTree);
    }
    if old == 0 || old == new {
        let equal = old == 0 || old_root == new_root;
        return if !proof.is_empty() {
            Err(Unproven::WrongLength)
        } else {
            equal.then_some(()).ok_or(Unproven::OtherRoot)
        };
    }
    let mut at = Position { node: old - 1, last: new - 1 };
    at.skip_full_subtrees();
    // A perfect old tree is a node of the new one, and its verifier has its hash.
    let (first, rest) = match (old.is_power_of_two(), proof.split_first()) {
        (true, _) => (old_root, proof),
        (false, Some((first, rest))) => (first, rest),
        (false, None) => return Err(Unproven::WrongLength),
    };
    let (mut of_old, mut of_new) = (*first, *first);
    for part in rest {
        if at.is_root() {
            return Err(Unproven::WrongLength);
        }
        if at.joins_the_left() {
            of_old = node_hash(crypto, part, &of_old);
            of_new = node_hash(crypto, part, &of_new);
        } else {
            of_new = node_hash(crypto, &of_new, part);
        }
        at.ascend();
    }
    match (at.is_root(), of_old == *old_root, of_new == *new_root) {
        (false, ..) => Err(Unproven::WrongLength),
        (true, false, _) => Err(Unproven::OtherOldRoot),
        (true, true, false) => Err(Unproven::OtherRoot),
        (true, true, true) => Ok(()),
    }
}

/// A node on its level, and the last node there (`fn` and `sn` of the RFC).
struct Position {
    node: u64,
    last: u64,
}

impl Position {
    fn is_root(&self) -> bool {
        self.last == 0
    }

    /// Whether the next part stands to the left: for right children, and for the last node of an incomplete level.
    fn joins_the_left(&self) -> bool {
        self.node & 1 == 1 || self.node == self.last
    }

    /// To the next node that has a sibling to join.
    fn ascend(&mut self) {
        if self.joins_the_left() {
            while self.node & 1 == 0 && self.node != 0 {
                self.half();
            }
        }
        self.half();
    }

    fn skip_full_subtrees(&mut self) {
        while self.node & 1 == 1 {
            self.half();
        }
    }

    fn half(&mut self) {
        self.node >>= 1;
        self.last >>= 1;
    }
}
