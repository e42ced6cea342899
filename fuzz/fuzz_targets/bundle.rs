//! No bytes make the readers of evidence panic.

#![no_main]

use countersign_evidence::{
    bundle::{self, Bundle},
    crypto::{Crypto, Hash},
    note::{Note, VerifierKey},
    proof::TlogProof,
    tile,
    witness::AddCheckpoint,
};
use libfuzzer_sys::fuzz_target;

/// Every hash is zero and every signature valid, so that the input gets past the proofs.
struct Credulous;

impl Crypto for Credulous {
    fn sha256(&self, _: &[&[u8]]) -> Hash {
        [0; 32]
    }

    fn verify_ed25519(&self, _: &[u8; 32], _: &[u8], _: &[u8; 64]) -> bool {
        true
    }

    fn verify_es256(&self, _: &[u8; 64], _: &[u8], _: &[u8; 64]) -> bool {
        true
    }
}

fuzz_target!(|bytes: &[u8]| {
    let _ = bundle::verify(&Credulous, bytes, &[]);
    if let Ok(read) = Bundle::parse(bytes) {
        assert_eq!(Bundle::parse(read.to_json().to_string().as_bytes()), Ok(read));
    }
    let _ = (Note::parse(bytes), TlogProof::parse(bytes), AddCheckpoint::parse(bytes));
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = (VerifierKey::parse(&Credulous, text), tile::Path::parse(text));
    }
});
