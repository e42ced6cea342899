//! Properties of every mutation of a valid proof.

use super::{good, verify, verify_with};
use crate::properties::runner;
use countersign_jose::ProofKeys;
use proptest::prelude::*;

#[test]
fn no_single_flipped_bit_of_a_proof_is_accepted() {
    let (proof, keys) = (good(), ProofKeys::default());
    verify_with(&proof, &keys).unwrap();
    for place in 0..proof.len() {
        for bit in 0..7 {
            let mut bytes = proof.clone().into_bytes();
            bytes[place] ^= 1 << bit;
            let changed = String::from_utf8(bytes).unwrap();
            assert!(verify_with(&changed, &keys).is_err(), "bit {bit} of byte {place}");
        }
    }
}

#[test]
fn no_replaced_or_removed_stretch_of_a_proof_is_accepted() {
    let (proof, keys) = (good(), ProofKeys::default());
    verify_with(&proof, &keys).unwrap();
    let change = (any::<prop::sample::Index>(), 0..40_usize, "[A-Za-z0-9_.-]{0,40}");
    let outcome = runner(2000).run(&change, |(place, length, text)| {
        let start = place.index(proof.len());
        let end = (start + length).min(proof.len());
        let changed = format!("{}{text}{}", &proof[..start], &proof[end..]);
        prop_assert!(changed == proof || verify_with(&changed, &keys).is_err(), "{}", changed);
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn nothing_that_is_sent_as_a_proof_makes_the_verifier_fall_over() {
    let outcome = runner(2000).run(&".{0,200}", |text| {
        prop_assert!(verify(&text).is_err());
        let headed = crate::support::raw(&text, &text);
        prop_assert!(verify(&headed).is_err());
        Ok(())
    });
    outcome.unwrap();
}
