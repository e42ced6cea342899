//! What the caller brings: a hash and signature checks.

/// A SHA-256 digest.
pub type Hash = [u8; 32];

/// Hashing and verification of signatures.
pub trait Crypto {
    /// The SHA-256 digest of the concatenated parts.
    fn sha256(&self, parts: &[&[u8]]) -> Hash;

    /// Whether `signature` is an Ed25519 signature over `message` by `key`.
    fn verify_ed25519(&self, key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool;

    /// Whether `signature` (r ‖ s) is an ECDSA signature with P-256 and SHA-256 over `message` by `key` (x ‖ y).
    fn verify_es256(&self, key: &[u8; 64], message: &[u8], signature: &[u8; 64]) -> bool;
}

impl<C: Crypto + ?Sized> Crypto for &C {
    fn sha256(&self, parts: &[&[u8]]) -> Hash {
        (**self).sha256(parts)
    }

    fn verify_ed25519(&self, key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool {
        (**self).verify_ed25519(key, message, signature)
    }

    fn verify_es256(&self, key: &[u8; 64], message: &[u8], signature: &[u8; 64]) -> bool {
        (**self).verify_es256(key, message, signature)
    }
}
