//! Merkle trees of RFC 6962, section 2.1, with SHA-256.
//!
//! A [`Plan`] lists the hashes that a root or a proof is made of, before any of them is read; so a caller can fetch the
//! tiles first. Verification needs nothing but the proof.

mod plan;
mod verify;

pub use plan::{Node, Plan};
pub use verify::{Unproven, consistency, inclusion};

use crate::crypto::{Crypto, Hash};

/// The hash of one entry.
pub fn leaf_hash(crypto: &impl Crypto, entry: &[u8]) -> Hash {
    crypto.sha256(&[&[0], entry])
}

/// The hash of an inner node.
pub fn node_hash(crypto: &impl Crypto, left: &Hash, right: &Hash) -> Hash {
    crypto.sha256(&[&[1], left, right])
}

/// The root of the tree without entries.
pub fn empty_root(crypto: &impl Crypto) -> Hash {
    crypto.sha256(&[])
}

/// The root of a tree, from the roots of its perfect subtrees from left to right.
pub fn fold(crypto: &impl Crypto, subtrees: &[Hash]) -> Hash {
    let mut from_the_right = subtrees.iter().rev().copied();
    let Some(last) = from_the_right.next() else { return empty_root(crypto) };
    from_the_right.fold(last, |right, left| node_hash(crypto, &left, &right))
}

#[cfg(test)]
mod tests;
