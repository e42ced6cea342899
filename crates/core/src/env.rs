//! The input of an operation besides its view: time, entropy and row keys.

use countersign_protocol::{
    ids::{self, RowKey},
    time::UnixMillis,
};
use rand_chacha::{
    ChaCha20Rng,
    rand_core::{Rng as _, SeedableRng as _},
};

/// The time and entropy of an operation. Filled by the engine, fixed in tests.
#[derive(Clone)]
pub struct Env {
    pub now: UnixMillis,
    /// Seeds a stream, so that one step can mint several ids.
    pub entropy: [u8; 32],
    /// The first of [`Env::KEYS`] row keys reserved for this operation.
    pub first_key: RowKey,
}

impl Env {
    /// Most rows created by one step: the approval of a plan creates one per plan step.
    pub const KEYS: i64 = 256;

    /// The last of this operation's keys, for a row added to a step that minted its own.
    pub fn spare_key(&self) -> RowKey {
        self.first_key + Self::KEYS - 1
    }

    pub fn mint(&self) -> Mint {
        Mint {
            random: ChaCha20Rng::from_seed(self.entropy),
            next_key: self.first_key,
            end: self.first_key + Self::KEYS,
        }
    }

    /// Salts for an entry added to the step of another operation. They differ from all ids and salts of that step;
    /// otherwise a known id could open a commitment.
    pub fn salts(&self) -> Mint {
        let mut random = ChaCha20Rng::from_seed(self.entropy);
        random.set_stream(1);
        Mint { random, next_key: self.first_key, end: self.first_key }
    }
}

/// Creates the ids, keys and secrets of one operation.
pub struct Mint {
    random: ChaCha20Rng,
    next_key: RowKey,
    end: RowKey,
}

impl Mint {
    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut out = [0; N];
        self.random.fill_bytes(&mut out);
        out
    }

    /// `prefix_` and 32 hex digits.
    pub fn id(&mut self, prefix: &str) -> String {
        ids::prefixed(prefix, self.bytes())
    }

    /// A 256-bit secret, `prefix_` and 43 characters of base64url.
    pub fn secret(&mut self, prefix: &str) -> String {
        use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
        format!("{prefix}_{}", URL_SAFE_NO_PAD.encode(self.bytes::<32>()))
    }

    pub fn key(&mut self) -> RowKey {
        debug_assert!(self.next_key < self.end, "an operation makes more rows than Env::KEYS");
        let key = self.next_key;
        self.next_key += 1;
        key
    }
}

#[cfg(test)]
mod tests;
