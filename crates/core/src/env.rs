//! What an operation may know of the world besides its view.

use countersign_protocol::{
    ids::{self, RowKey},
    time::UnixMillis,
};
use rand_chacha::{
    ChaCha20Rng,
    rand_core::{Rng as _, SeedableRng as _},
};

/// The moment and the randomness an operation may use. Filled by the engine, fixed in tests.
#[derive(Clone)]
pub struct Env {
    pub now: UnixMillis,
    /// Seeds a stream, so that one step can mint several ids.
    pub entropy: [u8; 32],
    /// The first of [`Env::KEYS`] row keys that are this operation's to give out.
    pub first_key: RowKey,
}

impl Env {
    /// How many rows one step can make: a plan's yes makes one for each of its steps.
    pub const KEYS: i64 = 256;

    /// The last of this operation's keys: for a row that is added to a step which minted its own.
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

    /// Salts for an entry that joins the step of another operation: none of them equals an id or a salt of that one, or
    /// whoever reads the id could open a commitment.
    pub fn salts(&self) -> Mint {
        let mut random = ChaCha20Rng::from_seed(self.entropy);
        random.set_stream(1);
        Mint { random, next_key: self.first_key, end: self.first_key }
    }
}

/// Gives out fresh ids, keys and secrets of one operation.
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
