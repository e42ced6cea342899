//! The terms of a plan: the strictest of its steps, and a person entitled to decide all of them.

use crate::{
    decision_world::{ALICE, BOB, CAROL, DAN, NOW, Plane, answerer},
    plan_world::{document, no, plan_of, yes},
};
use countersign_core::{
    decision::answer::{Answer, NotCounted},
    records::{Assurance, Decision, DecisionTerms},
    refusal::Refusal,
};
use countersign_protocol::{
    aaep::event::{Risk, YesNo},
    project::ProjectDocument,
};
use serde_json::{Value, json};

/// A plan that calls each of these tools once; an empty name is the agent's own step.
fn proposed(document: ProjectDocument, tools: &[&str]) -> Result<(Plane, Decision), Refusal> {
    let mut plane = Plane::with(document);
    let step = |tool: &&str| -> (&[usize], Value) {
        (&[], if tool.is_empty() { Value::Null } else { json!({ "tool": tool }) })
    };
    let written = plane.write(&plan_of(&tools.iter().map(step).collect::<Vec<_>>()), NOW).unwrap();
    let plan = plane.commit(written).key;
    let step = plane.propose(plan, NOW)?;
    let decision = plane.commit(step).decision;
    Ok((plane, decision))
}

fn terms(tools: &[&str]) -> DecisionTerms {
    proposed(document(), tools).map(|(_, decision)| decision.terms).unwrap()
}

///
#[test]
fn a_plan_that_nobody_could_approve_as_a_whole_raises_no_question() {
    for tools in [&["look", "ledger"][..], &["ledger", "diary"], &["vault", "diary", "ledger"], &["unknown", "vault"]] {
        let refused = proposed(document(), tools).map(drop);
        let Err(Refusal::InvalidRequest(why)) = refused else { panic!("{tools:?}: {refused:?}") };
        assert!(why.to_string().contains("separate plans"), "{why}");
    }
    // An admin setting lets the user decide in place of the named approvers.
    let mut own = document();
    own.decisions.own_approval = true;
    let (plane, decision) = proposed(own, &["look", "ledger"]).unwrap();
    assert!(plane.answer(decision.key, yes(ALICE), NOW).is_ok());
    assert!(plane.answer(decision.key, yes(CAROL), NOW).is_err(), "who is named for one of them only");
}

///
#[test]
fn a_plan_is_as_risky_and_needs_as_much_proof_as_the_worst_of_its_steps() {
    let all = [
        (&["look"][..], Risk::Low, false, Assurance::Token),
        (&["look", "pay", "send"], Risk::Medium, false, Assurance::Token),
    ];
    for (tools, risk, irreversible, floor) in all {
        let terms = terms(tools);
        assert_eq!((terms.risk, terms.irreversible, terms.floor), (risk, irreversible, floor), "{tools:?}");
    }
    for tools in [["ledger", "vault"], ["vault", "ledger"]] {
        let terms = terms(&tools);
        assert_eq!((terms.risk, terms.irreversible, terms.floor), (Risk::High, true, Assurance::Fresh));
    }
    let unknown = terms(&["unknown"]);
    assert_eq!((unknown.risk, unknown.irreversible), (Risk::High, true));
}

/// MPLP-4.3-10. Regardless of the policy for its actions.
#[test]
fn no_plan_defaults_to_an_approval_and_people_have_the_projects_time() {
    for tools in [&["look"][..], &["look", ""], &[""]] {
        let terms = terms(tools);
        assert_eq!((terms.default, terms.timeout_s), (YesNo::Reject, 120));
        assert_eq!((terms.approvers.people, terms.also), (vec![ALICE], vec![]));
    }
}

/// An answer by a person entitled for only some steps does not count.
#[test]
fn the_approver_of_a_plan_counts_for_every_step_of_it() {
    for tools in [&["vault", "ledger"][..], &["ledger", "vault"], &["vault", "ledger", "vault", ""]] {
        let (plane, decision) = proposed(document(), tools).unwrap();
        assert_eq!(decision.terms.also.len(), 1, "each list once");
        for (person, says_yes, says_no) in
            [(ALICE, false, true), (BOB, false, false), (CAROL, true, true), (DAN, false, false)]
        {
            for (said, counts) in [(yes(person), says_yes), (no(person), says_no)] {
                let refused = plane.answer(decision.key, said, NOW).err();
                assert_eq!(refused, (!counts).then_some(NotCounted::NotEntitled), "{person} about {tools:?}");
            }
        }
        let weak = Answer { by: answerer(CAROL, Assurance::Session), ..yes(CAROL) };
        assert_eq!(plane.answer(decision.key, weak, NOW).err(), Some(NotCounted::TooWeak(Assurance::Fresh)));
    }
}
