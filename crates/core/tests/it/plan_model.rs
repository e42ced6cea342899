//! Arbitrary sequences of claims, reports, expiries and revocations, some decided on stale views: the real operations
//! against the reference and the invariants.

use crate::{
    decision_world::{ADMIN, ALICE, DAN},
    plan_progress::{plan_may_move, step_may_move},
    plan_reference::{Run, Told, Yes},
    plan_runner::{BOUNDED, Command, Cost, Opening, Runner, step_of},
};
use countersign_core::{
    evidence,
    records::{AaepSessionState, Allowance, AllowanceState, DecisionState, Execution, ExecutionState},
};
use countersign_protocol::mplp::{PlanStatus, StepStatus};
use proptest::{
    collection::vec,
    prelude::*,
    sample::select,
    strategy::ValueTree as _,
    test_runner::{RngAlgorithm, TestRng, TestRunner},
};
use std::collections::BTreeSet;

impl Runner {
    fn check(&mut self) {
        self.rows_are_as_the_reference_says();
        for key in self.yeses.iter().flatten() {
            self.nothing_beyond_the_bounds(self.plane.store.allowance(*key));
        }
        self.moves_are_legal();
        self.completed_means_done();
        self.approved_by_somebody_entitled();
    }

    fn rows_are_as_the_reference_says(&self) {
        let (store, reference) = (&self.plane.store, &self.reference);
        let plan = store.plan(self.plan);
        assert_eq!(plan.document.status, reference.plan);
        for (index, lane) in reference.lanes.iter().enumerate() {
            let found = self.yeses[index].map(|key| store.allowance(key));
            assert_eq!(found.map_or(Yes::None, yes), lane.yes, "the yes of {index}");
            assert_eq!(found.map_or(0, |row| row.tally.used), lane.used, "the uses of {index}");
            let Some(step) = plan.document.steps.iter().find(|step| step.step_id == step_of(index)) else { continue };
            assert_eq!(step.status, lane.status, "step {}", index + 1);
            let under_way = plan.actions.get(&step_of(index)).map_or(0, |planned| planned.tally.under_way);
            assert_eq!(under_way, lane.under_way, "under way in step {}", index + 1);
        }
        for (key, made) in self.uses.iter().zip(&reference.uses) {
            assert_eq!(run(store.execution(*key)), made.run);
        }
        for (asked, over) in self.asked.iter().zip(reference.over) {
            let session = store.session(store.decision(*asked).asked_in);
            assert_eq!(matches!(session.state, AaepSessionState::Over { .. }), over, "{:?}", session.state);
        }
    }

    /// Counts the uses themselves: completed, running or unknown, and not returned.
    fn nothing_beyond_the_bounds(&self, allowance: &Allowance) {
        let made: Vec<(&Execution, bool)> = self
            .uses
            .iter()
            .zip(&self.reference.uses)
            .map(|(key, made)| (self.plane.store.execution(*key), made.returned))
            .filter(|(run, _)| run.allowance == allowance.key)
            .collect();
        let counts: Vec<&Execution> = made.iter().filter(|(_, returned)| !returned).map(|(run, _)| *run).collect();
        assert_eq!(allowance.tally.used, i64::try_from(counts.len()).unwrap());
        assert!(allowance.tally.used <= allowance.tally.uses);
        for (name, sum) in &allowance.tally.sums {
            let taken = counts.iter().flat_map(|run| &run.taken).filter(|taken| taken.name == *name);
            let cents: i64 = taken.map(|taken| in_cents(&taken.amount.to_string())).sum();
            assert_eq!(in_cents(&sum.spent.to_string()), cents);
            assert!(sum.spent <= sum.limit && sum.unit == "EUR");
        }
        for (run, _) in made {
            assert!(run.claimed_at < allowance.until, "claimed after its time");
            let ended = match allowance.state {
                AllowanceState::Lapsed { at } | AllowanceState::Cancelled { at, .. } => Some(at),
                _ => None,
            };
            assert!(ended.is_none_or(|at| run.claimed_at <= at), "claimed after it was over");
        }
    }

    /// Every transition is recorded in the evidence log.
    fn moves_are_legal(&mut self) {
        for draft in &self.plane.store.evidence[self.entries..] {
            if draft.event_type != "plan_changed" {
                continue;
            }
            let entry = evidence::opened(&draft.leaf).unwrap();
            let (from, to) = (entry["from"].as_str().unwrap(), entry["to"].as_str().unwrap());
            match entry.get("step_id") {
                Some(_) => assert!(step_may_move(from, to), "a step went from {from} to {to}"),
                None => assert!(plan_may_move(from, to), "the plan went from {from} to {to}"),
            }
        }
        self.entries = self.plane.store.evidence.len();
    }

    fn completed_means_done(&self) {
        let plan = self.plane.store.plan(self.plan);
        for (step, planned) in &plan.actions {
            let of_step = |run: &&Execution| run.step.as_ref().is_some_and(|of| of.step == *step);
            let ran = self.plane.store.executions().filter(of_step).filter(|row| run(row) == Run::Committed).count();
            assert_eq!(planned.tally.done, i64::try_from(ran).unwrap());
            let status = plan.document.steps.iter().find(|known| known.step_id == *step).unwrap().status;
            assert_eq!(status == StepStatus::Completed, planned.tally.done == planned.action.uses);
        }
        if plan.document.status == PlanStatus::Completed {
            let over = |status| matches!(status, StepStatus::Completed | StepStatus::Skipped);
            assert!(plan.document.steps.iter().all(|step| over(step.status)));
        }
    }

    fn approved_by_somebody_entitled(&self) {
        let decision = self.plane.store.decision(self.asked[0]);
        let by = match &decision.state {
            DecisionState::Accepted { by, .. } => Some(by.person),
            _ => None,
        };
        let went_on = !matches!(self.reference.plan, PlanStatus::Draft | PlanStatus::Proposed | PlanStatus::Cancelled);
        assert!(!went_on || by == Some(ALICE));
        assert_eq!(by.is_some(), self.yeses[..BOUNDED].iter().any(Option::is_some));
    }
}

fn yes(allowance: &Allowance) -> Yes {
    match allowance.state {
        AllowanceState::Open => Yes::Open,
        AllowanceState::Spent => Yes::Spent,
        AllowanceState::Lapsed { .. } | AllowanceState::Cancelled { .. } => Yes::Over,
    }
}

fn run(execution: &Execution) -> Run {
    match execution.state {
        ExecutionState::Claimed { lease_until } => Run::Claimed(lease_until),
        ExecutionState::Unknown { .. } => Run::Unknown,
        ExecutionState::Committed { .. } => Run::Committed,
        ExecutionState::Failed { .. } => Run::Failed,
        ExecutionState::Released { .. } => panic!("nothing here releases"),
    }
}

fn in_cents(amount: &str) -> i64 {
    let (whole, rest) = amount.split_once('.').unwrap_or((amount, "0"));
    whole.parse::<i64>().unwrap() * 100 + format!("{rest:0<2}").parse::<i64>().unwrap()
}

fn command() -> impl Strategy<Value = Command> {
    use StepStatus::{Blocked, Completed, Failed, InProgress, Pending, Skipped};
    let cost = prop_oneof![
        4 => (1..=320_i64).prop_map(Cost::Cents),
        1 => select(vec![0, 300, 301, 500, 501]).prop_map(Cost::Cents),
        1 => Just(Cost::WhatIsLeft),
        1 => Just(Cost::OneMore),
    ];
    let claim = (0..5_usize, cost, prop_oneof![9 => Just(0_u8), 1 => 1..5_u8], weighted(0.97), weighted(0.97));
    let told = prop_oneof![
        6 => Just(Told::Committed),
        1 => Just(Told::Failed),
        3 => Just(Told::Refused),
        1 => Just(Told::Lost),
        1 => Just(Told::Running),
    ];
    let person = || prop_oneof![6 => Just(ADMIN), 1 => Just(ALICE), 1 => Just(DAN)];
    let statuses = vec![InProgress, InProgress, Completed, Completed, Completed, Failed, Blocked, Pending, Skipped];
    prop_oneof![
        40 => claim.prop_map(|(lane, cost, twist, stands, same_rules)| Command::Claim { lane, cost, twist, stands, same_rules }),
        30 => (any::<u8>(), told).prop_map(|(which, told)| Command::Report { which, told }),
        4 => any::<u8>().prop_map(|which| Command::LeaseDue { which }),
        4 => (any::<u8>(), person(), any::<bool>()).prop_map(|(which, person, ran)| Command::Reconcile { which, person, ran }),
        1 => (0..6_usize, person()).prop_map(|(lane, person)| Command::RevokeApproval { lane, person }),
        4 => (0..6_usize).prop_map(|lane| Command::Lapse { lane }),
        1 => proptest::option::of(person()).prop_map(|person| Command::Cancel { person }),
        8 => select(statuses).prop_map(|status| Command::Step { status }),
        1 => Just(Command::Revoke),
        3 => (0..30_000_i64).prop_map(|millis| Command::Pass { millis }),
        3 => (any::<u8>(), select(vec![-1, 0, 1])).prop_map(|(which, millis)| Command::PassTo { which, millis }),
        12 => any::<u8>().prop_map(|which| Command::Flush { which }),
        3 => any::<u8>().prop_map(|which| Command::Crash { which }),
    ]
}

fn weighted(chance: f64) -> proptest::bool::Weighted {
    proptest::bool::weighted(chance)
}

fn commands() -> impl Strategy<Value = Vec<(Command, bool)>> {
    vec((command(), weighted(0.15)), 1..70)
}

fn opening() -> impl Strategy<Value = Opening> {
    prop_oneof![8 => Just(Opening::All), 2 => Just(Opening::Some), 1 => Just(Opening::No)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    /// MPLP-1-02, MPLP-4.3-03
    #[test]
    fn whatever_happens_in_whatever_order_nothing_runs_beyond_what_was_approved(
        opening in opening(), commands in commands(),
    ) {
        let mut runner = Runner::new(opening);
        runner.check();
        for (command, hold) in commands {
            runner.take(&command, hold);
            runner.check();
        }
    }
}

/// A model that does not reach a result proves nothing about it.
#[test]
fn the_commands_reach_whatever_can_become_of_a_plan() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[11; 32]);
    let mut random = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let mut seen = BTreeSet::new();
    for _ in 0..500 {
        let opening = opening().new_tree(&mut random).unwrap().current();
        let mut runner = Runner::new(opening);
        for (command, hold) in commands().new_tree(&mut random).unwrap().current() {
            runner.take(&command, hold);
            runner.check();
        }
        seen.extend(std::mem::take(&mut runner.seen));
        seen.insert(format!("plan {:?}", runner.reference.plan));
        seen.extend(runner.reference.lanes[..BOUNDED].iter().map(|lane| format!("step {:?}", lane.status)));
        if missed(&seen).is_empty() {
            return;
        }
    }
    assert_eq!(missed(&seen), [] as [String; 0], "{seen:#?}");
}

/// The results of `REACHED` that did not occur.
fn missed(seen: &BTreeSet<String>) -> Vec<String> {
    let wanted = REACHED.iter().flat_map(|(command, all)| all.split(", ").map(move |one| format!("{command} {one}")));
    wanted.filter(|result| !seen.contains(result)).collect()
}

/// The results that the commands must reach, by command.
const REACHED: [(&str, &str); 11] = [
    ("plan", "Approved, InProgress, Completed, Failed, Cancelled, Draft"),
    ("step", "Pending, InProgress, Completed, Failed, Blocked, Skipped"),
    (
        "Claim",
        "Done, Gone, Unfit, late Committed, late Stale, late OutOfTime, more Done, more Gone, more Unfit, \
         more late Committed, more late Stale",
    ),
    ("Report", "Done, Nothing, Gone, late Committed, late Stale"),
    ("LeaseDue", "Done, Nothing"),
    ("Reconcile", "Done, Gone, Forbidden"),
    ("RevokeApproval", "Done, Gone, Forbidden"),
    ("Lapse", "Done, Nothing, late Stale"),
    ("Cancel", "Done, Gone, Forbidden"),
    ("Step", "Done, Gone, late Stale"),
    ("Revoke", "Done, late Stale"),
];
