//! Arbitrary command sequences with clock skew and late commits: the real operations against the reference and the
//! invariants.

use crate::{decision_commands::deeds, decision_runner::Runner};
use proptest::{
    prelude::*,
    strategy::ValueTree as _,
    test_runner::{RngAlgorithm, TestRng, TestRunner},
};
use std::collections::BTreeSet;

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    /// AAEP-6.1-03, AAEP-6.3.5-02, AAEP-6.8-02
    #[test]
    fn whatever_happens_in_whatever_order_a_yes_is_given_once_and_spent_once(
        early_reject in proptest::bool::weighted(0.2),
        deeds in deeds(),
    ) {
        let mut runner = Runner::new(early_reject);
        for deed in deeds {
            runner.take(&deed);
            runner.check();
        }
    }
}

/// A model that does not reach a result proves nothing about it.
#[test]
fn the_commands_reach_whatever_can_become_of_them() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut random = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let mut seen = BTreeSet::new();
    for n in 0..800 {
        let mut runner = Runner::new(n % 5 == 0);
        for deed in deeds().new_tree(&mut random).unwrap().current() {
            runner.take(&deed);
            runner.check();
        }
        seen.extend(runner.seen);
        if missed(&seen).is_empty() {
            return;
        }
    }
    assert_eq!(missed(&seen), [] as [String; 0]);
}

/// The results of `REACHED` that did not occur.
fn missed(seen: &BTreeSet<String>) -> Vec<String> {
    let wanted = REACHED.iter().flat_map(|(command, all)| all.split(", ").map(move |one| format!("{command} {one}")));
    wanted.filter(|result| !seen.contains(result)).collect()
}

/// The results that the commands must reach, by command.
const REACHED: [(&str, &str); 12] = [
    ("AllowanceDue", "Done, Nothing, late Stale"),
    (
        "Answer",
        "Done, OutOfTime, Refused(\"by software\"), Refused(\"not allowed\"), Refused(\"not entitled\"), \
         Refused(\"settled\"), Refused(\"too early\"), Refused(\"too late\"), Refused(\"too weak\"), \
         late Committed, late OutOfTime, late Stale",
    ),
    ("Claim", "Done, OutOfTime, Refused(\"conflict\"), Refused(\"elsewhere\"), late Committed"),
    ("Due", "Done, OutOfTime, late Stale"),
    ("Extend", "Done, OutOfTime"),
    ("LeaseDue", "Done"),
    ("LoseApprover", "Done"),
    ("Raise", "Done, Limit(0), Limit(1), Limit(2), Nothing, late Stale"),
    ("Reconcile", "Done"),
    ("Report", "Done, Nothing"),
    ("Revoke", "late Committed"),
    ("Withdraw", "Done"),
];
