//! SHA-256 and signatures for the tests.

use crate::crypto::{Crypto, Hash};
use aws_lc_rs::{
    digest,
    signature::{self, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey},
};

pub(crate) struct TestCrypto;

impl Crypto for TestCrypto {
    fn sha256(&self, parts: &[&[u8]]) -> Hash {
        digest::digest(&digest::SHA256, &parts.concat()).as_ref().try_into().unwrap()
    }

    fn verify_ed25519(&self, key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool {
        UnparsedPublicKey::new(&signature::ED25519, key).verify(message, signature).is_ok()
    }

    fn verify_es256(&self, key: &[u8; 64], message: &[u8], signature: &[u8; 64]) -> bool {
        let point = [&[4], key.as_slice()].concat();
        UnparsedPublicKey::new(&signature::ECDSA_P256_SHA256_FIXED, point).verify(message, signature).is_ok()
    }
}

/// An Ed25519 key made of one byte.
pub(crate) struct TestKey(Ed25519KeyPair);

impl TestKey {
    pub(crate) fn new(seed: u8) -> Self {
        Self(Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap())
    }

    pub(crate) fn public(&self) -> [u8; 32] {
        self.0.public_key().as_ref().try_into().unwrap()
    }

    pub(crate) fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.0.sign(message).as_ref().try_into().unwrap()
    }
}
