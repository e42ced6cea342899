//! The source of randomness and row keys.

use countersign_core::env::Env;
use countersign_protocol::{ids::RowKey, time::UnixMillis};
use rand_chacha::{
    ChaCha20Rng,
    rand_core::{Rng as _, SeedableRng as _},
};
use std::sync::Mutex;

/// The operating system's randomness, or a seed that makes a run repeatable.
pub enum Entropy {
    System,
    Seeded(Box<Mutex<ChaCha20Rng>>),
}

impl Entropy {
    pub fn seeded(seed: u64) -> Self {
        Self::Seeded(Box::new(Mutex::new(ChaCha20Rng::seed_from_u64(seed))))
    }

    /// 32 bytes for a key that belongs to no engine.
    pub fn seed(&self) -> std::io::Result<[u8; 32]> {
        self.entropy().map_err(std::io::Error::other)
    }

    pub(crate) fn entropy(&self) -> Result<[u8; 32], NoRandomness> {
        let mut out = [0; 32];
        match self {
            Self::System => system_entropy(&mut out)?,
            Self::Seeded(random) => random.lock().map_err(|_| NoRandomness)?.fill_bytes(&mut out),
        }
        Ok(out)
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the system gives no randomness")]
pub(crate) struct NoRandomness;

/// Gives out blocks of row keys: 41 bits of milliseconds, 8 of lane, 14 of counter. Keys grow with time, so
/// no table is filled at random places, and two nodes never give out the same one.
#[derive(Default)]
pub(crate) struct KeyBlocks {
    last: Mutex<(i64, i64)>,
}

const EPOCH_MS: i64 = 1_735_689_600_000; // 2025-01-01
const TIME_BITS: u32 = 41;
const COUNTER_BITS: u32 = 14;
const LANE_BITS: u32 = 8;

impl KeyBlocks {
    pub(crate) fn next(&self, now: UnixMillis, lane: i64) -> RowKey {
        let mut last = self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let now = (now.0 - EPOCH_MS).max(1);
        let (mut at, mut counter) = *last;
        counter += Env::KEYS;
        // A clock that stands still or runs back borrows from future milliseconds.
        if now > at {
            (at, counter) = (now, 0);
        } else if counter + Env::KEYS > 1 << COUNTER_BITS {
            (at, counter) = (at + 1, 0);
        }
        *last = (at, counter);
        (at << (COUNTER_BITS + LANE_BITS)) | ((lane & 0xff) << COUNTER_BITS) | counter
    }
}

/// Higher than every key given out before `at`.
pub(crate) fn first_key_at(at: UnixMillis) -> RowKey {
    (at.0 - EPOCH_MS).clamp(0, (1 << TIME_BITS) - 1) << (COUNTER_BITS + LANE_BITS)
}

#[expect(clippy::disallowed_methods, reason = "the one place where the node asks the system for randomness")]
fn system_entropy(out: &mut [u8; 32]) -> Result<(), NoRandomness> {
    aws_lc_rs::rand::fill(out).map_err(|_| NoRandomness)
}
