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
    fn in_every_order_of_operations_an_approval_is_given_once_and_claimed_once(
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
fn the_commands_reach_every_outcome() {
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
        if REACHED.iter().all(|what| seen.contains(*what)) {
            return;
        }
    }
    let missed: Vec<&str> = REACHED.iter().filter(|what| !seen.contains(**what)).copied().collect();
    panic!("not reached: {missed:?}");
}

const REACHED: [&str; 38] = [
    "AllowanceDue Done",
    "AllowanceDue Nothing",
    "AllowanceDue late Stale",
    "Answer Done",
    "Answer OutOfTime",
    "Answer Refused(\"by software\")",
    "Answer Refused(\"not allowed\")",
    "Answer Refused(\"not entitled\")",
    "Answer Refused(\"settled\")",
    "Answer Refused(\"too early\")",
    "Answer Refused(\"too late\")",
    "Answer Refused(\"too weak\")",
    "Answer late Committed",
    "Answer late OutOfTime",
    "Answer late Stale",
    "Claim Done",
    "Claim OutOfTime",
    "Claim Refused(\"conflict\")",
    "Claim Refused(\"elsewhere\")",
    "Claim late Committed",
    "Due Done",
    "Due OutOfTime",
    "Due late Stale",
    "Extend Done",
    "Extend OutOfTime",
    "LeaseDue Done",
    "LoseApprover Done",
    "Raise Done",
    "Raise Limit(0)",
    "Raise Limit(1)",
    "Raise Limit(2)",
    "Raise Nothing",
    "Raise late Stale",
    "Reconcile Done",
    "Report Done",
    "Report Nothing",
    "Revoke late Committed",
    "Withdraw Done",
];
