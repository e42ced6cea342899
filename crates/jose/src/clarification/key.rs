//! The signing key of an asking agent, and one consistent verdict about a signature (W-23).

use countersign_protocol::{
    canonical::NotCanonical,
    clarification::{PublicKey, Signable, Signature},
};
use ed25519_dalek::{Signer as _, SigningKey, VerifyingKey};
use zeroize::Zeroizing;

/// An Ed25519 key pair. The private half is wiped when dropped and never printed.
#[derive(Clone)]
pub struct AgentKey(SigningKey);

impl AgentKey {
    /// From 32 random bytes, which are the private key.
    pub fn from_seed(seed: [u8; 32]) -> Self {
        Self(SigningKey::from_bytes(&Zeroizing::new(seed)))
    }

    /// The private key, for encrypted storage. Wiped when dropped.
    pub fn seed(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.0.to_bytes())
    }

    pub fn public_key(&self) -> PublicKey {
        PublicKey::from_bytes(self.0.verifying_key().to_bytes())
    }

    /// Deterministic: the same bytes always give the same signature (RFC 8032).
    pub fn sign(&self, input: &[u8]) -> Signature {
        Signature::from_bytes(self.0.sign(input).to_bytes())
    }

    /// Signs all of a document but its `signature`.
    pub fn sign_body<T: Signable>(&self, body: &T) -> Result<Signature, NotCanonical> {
        body.input().map(|input| self.sign(&input))
    }
}

impl std::fmt::Debug for AgentKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("AgentKey").field(&self.public_key()).finish()
    }
}

/// The public keys of RFC 8032 7.1, tests 1 and 2, with published private halves: anyone can sign with them.
const PUBLISHED_TEST_KEYS: [[u8; 32]; 2] = [
    [
        0xd7, 0x5a, 0x98, 0x01, 0x82, 0xb1, 0x0a, 0xb7, 0xd5, 0x4b, 0xfe, 0xd3, 0xc9, 0x64, 0x07, 0x3a, 0x0e, 0xe1,
        0x72, 0xf3, 0xda, 0xa6, 0x23, 0x25, 0xaf, 0x02, 0x1a, 0x68, 0xf7, 0x07, 0x51, 0x1a,
    ],
    [
        0x3d, 0x40, 0x17, 0xc3, 0xe8, 0x43, 0x89, 0x5a, 0x92, 0xb7, 0x0a, 0xa7, 0x4d, 0x1b, 0x7e, 0xbc, 0x9c, 0x98,
        0x2c, 0xcf, 0x2e, 0xc4, 0x96, 0x8c, 0xc0, 0xcd, 0x55, 0xf1, 0x2a, 0xf4, 0x66, 0x0c,
    ],
];

pub fn is_published_test_key(key: &PublicKey) -> bool {
    PUBLISHED_TEST_KEYS.contains(key.bytes())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSignature {
    #[error("the key is not a canonical point of the curve, or has small order: it could verify any message")]
    Key,
    #[error("the signature was not made with this key over these bytes")]
    Signature,
}

/// Checks a single signature, never in a batch, without clearing cofactors: S must be canonical, and neither the key
/// nor R may be of small order.
pub fn verify(key: &PublicKey, input: &[u8], signature: &Signature) -> Result<(), BadSignature> {
    if !is_canonical(key.bytes()) {
        return Err(BadSignature::Key);
    }
    let key = VerifyingKey::from_bytes(key.bytes()).map_err(|_| BadSignature::Key)?;
    if key.is_weak() {
        return Err(BadSignature::Key);
    }
    let signature = ed25519_dalek::Signature::from_bytes(signature.bytes());
    key.verify_strict(input, &signature).map_err(|_| BadSignature::Signature)
}

/// Whether the encoded number is below 2^255 - 19. The library reduces the nineteen others to the points they wrap
/// around to (RFC 8032 5.1.3 does not).
fn is_canonical(bytes: &[u8; 32]) -> bool {
    let [low, middle @ .., high] = bytes;
    let all_ones = middle.iter().all(|byte| *byte == 0xff) && high & 0x7f == 0x7f;
    !(all_ones && *low >= 0xed)
}
