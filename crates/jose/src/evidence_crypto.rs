//! Hashing and signature checks for the verification of evidence.

use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, ED25519, UnparsedPublicKey};
use countersign_evidence::crypto::{Crypto, Hash};
use countersign_protocol::hash::Digest;

/// The library of this crate, as `countersign-evidence` takes it.
#[derive(Clone, Copy, Debug, Default)]
pub struct EvidenceCrypto;

impl Crypto for EvidenceCrypto {
    fn sha256(&self, parts: &[&[u8]]) -> Hash {
        Digest::of_parts(parts).0
    }

    fn verify_ed25519(&self, key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool {
        UnparsedPublicKey::new(&ED25519, key).verify(message, signature).is_ok()
    }

    fn verify_es256(&self, key: &[u8; 64], message: &[u8], signature: &[u8; 64]) -> bool {
        let mut point = [4; 65];
        point.iter_mut().skip(1).zip(key).for_each(|(place, byte)| *place = *byte);
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature).is_ok()
    }
}

#[cfg(test)]
mod tests;
