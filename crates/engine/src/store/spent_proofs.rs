//! The proofs that this process has seen, in memory. With SQLite these are all, because there is one node and a
//! restart is a new epoch; with PostgreSQL they spare the upstream calls that the table would refuse afterwards.

use crate::store::proofs::{EARLY, ProofId, SECOND, StoredProof};
use std::{
    collections::{HashSet, VecDeque},
    hash::{BuildHasher as _, BuildHasherDefault, Hasher, RandomState},
};

/// By the time they were spent. Old ones are dropped by the bucket, so that nothing is scanned.
#[derive(Default)]
pub(crate) struct SpentProofs {
    /// New at each start, so that nobody outside can construct colliding proofs.
    keys: RandomState,
    buckets: VecDeque<Bucket>,
}

struct Bucket {
    /// When the next one begins.
    end: i64,
    shards: [HashSet<u64, BuildHasherDefault<AsItIs>>; SHARDS],
}

/// A growing table is copied as a whole; sixteen small copies cause no pause.
const SHARDS: usize = 16;
const WIDTH: i64 = 150 * SECOND;

/// A proof comes from at most 330 s ahead and is refused by its age 300 s after its own time.
const KEPT: i64 = 2 * EARLY;

impl SpentProofs {
    /// Those among `asked` that are spent.
    pub(crate) fn spent_among(&self, asked: &[&StoredProof]) -> HashSet<ProofId> {
        asked.iter().map(|proof| proof.id).filter(|id| self.contains(id)).collect()
    }

    /// `now` never goes backwards.
    pub(crate) fn insert(&mut self, proofs: &[&StoredProof], now: i64) {
        if proofs.is_empty() {
            return;
        }
        if self.buckets.back().is_none_or(|newest| newest.end <= now) {
            self.buckets.push_back(Bucket::until(now.saturating_add(WIDTH)));
        }
        let Some(newest) = self.buckets.back_mut() else { return };
        for proof in proofs {
            newest.insert(self.keys.hash_one(proof.id));
        }
    }

    pub(crate) fn drop_expired(&mut self, now: i64) {
        while self.buckets.front().is_some_and(|oldest| oldest.end.saturating_add(KEPT) < now) {
            self.buckets.pop_front();
        }
    }

    pub(crate) fn contains(&self, id: &ProofId) -> bool {
        let mark = self.keys.hash_one(id);
        self.buckets.iter().rev().any(|bucket| bucket.contains(mark))
    }
}

impl Bucket {
    fn until(end: i64) -> Self {
        Self { end, shards: Default::default() }
    }

    fn contains(&self, mark: u64) -> bool {
        self.shards.get(shard(mark)).is_some_and(|marks| marks.contains(&mark))
    }

    fn insert(&mut self, mark: u64) {
        if let Some(marks) = self.shards.get_mut(shard(mark)) {
            marks.insert(mark);
        }
    }
}

/// By bits in the middle: the table itself uses the lowest and the highest.
fn shard(mark: u64) -> usize {
    usize::from(mark.to_be_bytes()[3]) % SHARDS
}

/// A mark is a keyed hash already.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u64(&mut self, mark: u64) {
        self.0 = mark;
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }
}

#[cfg(test)]
mod tests;
