//! Properties of every mutation of a valid proof.

use super::{good, verify, verify_with};
use crate::properties::{refuses_flipped_bits, refuses_other_stretches, runner};
use countersign_jose::ProofKeys;
use proptest::prelude::*;

#[test]
fn no_changed_bit_or_stretch_of_a_proof_is_accepted() {
    let keys = ProofKeys::default();
    refuses_flipped_bits(&good(), |proof| verify_with(proof, &keys).is_ok());
    refuses_other_stretches(&good(), |proof| verify_with(proof, &keys).is_ok());
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
