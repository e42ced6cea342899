//! V, the unit: one ES256 verification with a parsed key, and nothing else.

use crate::cpu;
use anyhow::Context as _;
use aws_lc_rs::{
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _, ParsedPublicKey,
    },
};
use std::time::Duration;

/// About the number of bytes signed by a proof.
const SIGNED_BYTES: usize = 480;
const BATCHES: usize = 5;
const A_BATCH: u32 = 1000;

/// The median of several batches of CPU time, on the core that this process is pinned to.
pub(crate) fn one_verification() -> anyhow::Result<Duration> {
    let batches: anyhow::Result<Vec<Duration>> = (0..BATCHES).map(|_| verifications(A_BATCH)).collect();
    let mut batches = batches?;
    batches.sort();
    let median = batches.get(BATCHES / 2).context("no batch")?;
    Ok(*median / A_BATCH)
}

/// The CPU time of `count` verifications.
pub(super) fn verifications(count: u32) -> anyhow::Result<Duration> {
    let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING)?;
    let key = ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, pair.public_key())?;
    let signed = [b'x'; SIGNED_BYTES];
    let signature = pair.sign(&SystemRandom::new(), &signed)?;
    let before = cpu::of_process("self")?;
    for _ in 0..count {
        key.verify_sig(std::hint::black_box(&signed), signature.as_ref())?;
    }
    Ok(cpu::of_process("self")?.saturating_sub(before))
}
