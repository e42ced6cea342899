//! One consistent verdict about a signature (W-23).

use countersign_protocol::clarification::{PublicKey, Signature};
use ed25519_dalek::VerifyingKey;

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
