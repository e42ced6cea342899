//! Properties of every mutation of a valid token.

use super::support::{KEYS, NOW, SERVICE, delegation_claims, expected, operator_claims, receipt_claims, signed};
use countersign_jose::{KeyPolicy, KeySet, peek, verify_delegation, verify_operator, verify_receipt};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// A deterministic runner: the same cases every time.
pub(crate) fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

fn is_accepted(jwt: &str) -> bool {
    verify_operator(jwt, &KEYS, expected(), NOW).is_ok()
        || verify_receipt(jwt, &KEYS, expected(), NOW).is_ok()
        || verify_delegation(jwt, &KEYS, &[SERVICE], NOW).is_ok()
}

fn good_tokens() -> [String; 3] {
    [operator_claims(), receipt_claims(), delegation_claims()].map(|claims| signed(&claims))
}

#[test]
fn each_good_token_is_accepted_as_one_kind_only() {
    for (place, jwt) in good_tokens().iter().enumerate() {
        let verdicts = [
            verify_operator(jwt, &KEYS, expected(), NOW).is_ok(),
            verify_receipt(jwt, &KEYS, expected(), NOW).is_ok(),
            verify_delegation(jwt, &KEYS, &[SERVICE], NOW).is_ok(),
        ];
        assert_eq!(verdicts, [place == 0, place == 1, place == 2]);
    }
}

#[test]
fn no_single_flipped_bit_is_accepted() {
    good_tokens().iter().for_each(|jwt| refuses_flipped_bits(jwt, is_accepted));
}

#[test]
fn no_replaced_or_removed_stretch_is_accepted() {
    good_tokens().iter().for_each(|jwt| refuses_other_stretches(jwt, is_accepted));
}

pub(crate) fn refuses_flipped_bits(jwt: &str, is_accepted: impl Fn(&str) -> bool) {
    assert!(is_accepted(jwt));
    for place in 0..jwt.len() {
        for bit in 0..7 {
            let mut bytes = jwt.to_owned().into_bytes();
            bytes[place] ^= 1 << bit;
            let changed = String::from_utf8(bytes).unwrap();
            assert!(!is_accepted(&changed), "bit {bit} of byte {place}");
        }
    }
}

pub(crate) fn refuses_other_stretches(jwt: &str, is_accepted: impl Fn(&str) -> bool) {
    let change = (any::<prop::sample::Index>(), 0..40_usize, "[A-Za-z0-9_.-]{0,40}");
    let outcome = runner(2000).run(&change, |(place, length, text)| {
        let start = place.index(jwt.len());
        let end = (start + length).min(jwt.len());
        let changed = format!("{}{text}{}", &jwt[..start], &jwt[end..]);
        prop_assert!(changed == *jwt || !is_accepted(&changed), "{}", changed);
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn parts_of_two_good_tokens_never_make_a_third() {
    let tokens = good_tokens();
    let parts: Vec<Vec<&str>> = tokens.iter().map(|jwt| jwt.split('.').collect()).collect();
    for (payload, signature) in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)] {
        assert!(!is_accepted(&format!("{}.{}.{}", parts[0][0], parts[payload][1], parts[signature][2])));
    }
}

#[test]
fn nothing_that_is_read_makes_a_reader_fall_over() {
    let outcome = runner(2000).run(&(".{0,200}", any::<Vec<u8>>()), |(text, bytes)| {
        let _ = peek(&text);
        let _ = KeySet::parse(&bytes, &KeyPolicy::default());
        let _ = KeySet::parse(
            format!(r#"{{"keys":[{{"kid":"a","kty":"EC","x":{text:?}}}]}}"#).as_bytes(),
            &KeyPolicy::default(),
        );
        prop_assert!(!is_accepted(&text));
        Ok(())
    });
    outcome.unwrap();
}
