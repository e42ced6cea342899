//! Cosignatures of witnesses (C2SP tlog-cosignature, type 0x04).
//!
//! One states: at this time, this was the largest tree of the log that I had seen, and it continued every earlier one.

use crate::{
    crypto::Crypto,
    note::{Algorithm, Signature, key_id},
};

/// The bytes that a witness signs for a checkpoint's text.
pub fn message(time: u64, text: &str) -> String {
    format!("cosignature/v1\ntime {time}\n{text}")
}

/// A witness's line below a checkpoint. `sign` makes an Ed25519 signature with the key `public`.
pub fn cosign(
    crypto: &impl Crypto,
    (name, public): (&str, &[u8; 32]),
    time: u64,
    text: &str,
    sign: impl FnOnce(&[u8]) -> [u8; 64],
) -> Signature {
    let signature = sign(message(time, text).as_bytes());
    let bytes = [time.to_be_bytes().as_slice(), &signature].concat();
    let key_id = key_id(crypto, name, Algorithm::Cosignature, public);
    Signature { name: name.to_owned(), key_id, bytes }
}
