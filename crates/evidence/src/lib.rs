//! Evidence that stands without us: the transparency log's formats, and their verification.
//!
//! Pure: no clock, no input or output, no keys. Hashing and signatures are arguments ([`Crypto`]), so the crate builds
//! without a C library. The formats are those of RFC 6962 (Merkle trees) and of the C2SP specifications signed-note,
//! tlog-checkpoint, tlog-tiles, tlog-cosignature, tlog-witness and tlog-proof, so other people's tools read our log.

pub mod bundle;
pub mod checkpoint;
pub mod cosignature;
pub mod crypto;
mod json;
pub mod merkle;
pub mod note;
pub mod proof;
pub mod tile;
pub mod witness;

#[cfg(test)]
mod test_crypto;
