//! Keys of transparency logs and of witnesses (Ed25519).

use countersign_protocol::clarification::PublicKey;
use ed25519_dalek::{Signer as _, SigningKey};
use zeroize::Zeroizing;

/// A key that signs notes. The private half is wiped when dropped and never printed.
#[derive(Clone)]
pub struct NoteKey(SigningKey);

impl NoteKey {
    /// From 32 random bytes, which are the private key.
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(seed))
    }

    /// The private key, for encrypted storage. Wiped when dropped.
    pub fn seed(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.0.to_bytes())
    }

    pub fn public(&self) -> [u8; 32] {
        self.0.verifying_key().to_bytes()
    }

    /// Deterministic: the same bytes always give the same signature (RFC 8032).
    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.0.sign(message).to_bytes()
    }
}

impl std::fmt::Debug for NoteKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("NoteKey").field(&PublicKey::from_bytes(self.public())).finish()
    }
}
