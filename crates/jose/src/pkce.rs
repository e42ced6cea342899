//! Proof Key for Code Exchange (RFC 7636), S256 only: the code is exchanged by the party that asked for it.

use aws_lc_rs::constant_time;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_protocol::hash::Digest;

/// A verifier from 32 random bytes.
pub fn verifier(random: [u8; 32]) -> String {
    URL_SAFE_NO_PAD.encode(random)
}

/// 43 to 128 unreserved characters (RFC 7636 4.1).
fn is_verifier(text: &str) -> bool {
    let unreserved = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'~');
    (43..=128).contains(&text.len()) && text.bytes().all(unreserved)
}

/// The challenge for a verifier.
pub fn challenge_s256(verifier: &str) -> String {
    Digest::of(verifier.as_bytes()).base64url()
}

/// Whether the verifier is valid and matches the challenge.
pub fn verify(challenge: &str, verifier: &str) -> bool {
    let expected = challenge_s256(verifier);
    is_verifier(verifier) && constant_time::verify_slices_are_equal(expected.as_bytes(), challenge.as_bytes()).is_ok()
}

#[cfg(test)]
mod tests;
