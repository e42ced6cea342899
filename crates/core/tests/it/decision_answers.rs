//! Valid answers, and the order of the checks (AAEP 6.3.4, R-1, R-4).

use crate::{
    decision_store::Outcome,
    decision_world::{ADMIN, ALICE, Ask, BOB, CAROL, DAN, NOW, Plane, answer, answerer, confirmation, document, reply},
};
use countersign_core::{
    decision::{
        answer::{Answer, AnswerContent, NotCounted, ProvenPerson},
        extend::Extend,
    },
    records::{Assurance, Decision, DecisionState, Question, Table, Via},
    step::Operation as _,
};
use countersign_protocol::{
    aaep::event::YesNo::{self, Accept, Reject},
    ids::RowKey,
};
use serde_json::{Value, json};

fn asked(plane: &mut Plane, ask: &Ask) -> Decision {
    let step = plane.raise(ask, NOW).unwrap();
    plane.commit(step).decision
}

fn why(plane: &Plane, question: &Decision, answer: Answer) -> Option<NotCounted> {
    plane.answer(question.key, answer, NOW).err()
}

/// AAEP-6.3.4-04, AAEP-6.3.4-07
#[test]
fn the_checks_are_made_in_order_and_a_failed_one_changes_nothing() {
    let mut plane = Plane::new();
    let only_no = Ask { question: confirmation("money.pay", &[Reject]), ..Ask::of("money.pay") };
    let question = asked(&mut plane, &only_no);
    let deadline = NOW.plus_secs(question.terms.timeout_s);
    let mut wrong = answer(DAN, reply(Accept), deadline);
    wrong.by.assurance = Assurance::Local;
    wrong.decided_by = Some("auto:configured_policy".into());
    type Repair = fn(&mut Answer);
    let checks: [(NotCounted, Repair); 6] = [
        (NotCounted::TooLate, |answer| answer.claimed_at = NOW.plus_secs(-301)),
        (NotCounted::TooEarly, |answer| answer.claimed_at = NOW.plus_secs(-200)),
        (NotCounted::BySoftware, |answer| answer.decided_by = Some("user:dan".into())),
        (NotCounted::NotEntitled, |answer| answer.by = answerer(BOB, Assurance::Token)),
        (NotCounted::TooWeak(Assurance::Session), |answer| answer.by = answerer(BOB, Assurance::Session)),
        (NotCounted::NotAllowed, |answer| answer.given = reply(Reject)),
    ];
    for (expected, repair) in checks {
        assert_eq!(why(&plane, &question, copy(&wrong)), Some(expected));
        repair(&mut wrong);
    }
    assert_eq!(plane.answer(question.key, copy(&wrong), deadline).err(), Some(NotCounted::TooLate));
    let step = plane.answer(question.key, copy(&wrong), NOW).unwrap();
    plane.commit(step);
    wrong.decided_by = Some("system:x".into());
    assert_eq!(why(&plane, &question, wrong), Some(NotCounted::Settled));
}

/// an older event that does not show everything to be executed.
#[test]
fn nobody_approves_over_the_wire_beyond_their_clients_permissions() {
    let mut plane = Plane::new();
    let mut old = confirmation("money.pay", &[Accept, Reject]);
    if let Question::Confirmation(asked) = &mut old {
        asked.details = None;
    }
    let question = asked(&mut plane, &Ask { question: old, ..Ask::of("money.pay") });
    let answered = |decision: YesNo, via: Via| {
        let mut answer = answer(BOB, reply(decision), NOW);
        answer.by = ProvenPerson { via, ..answerer(BOB, Assurance::Session) };
        answer
    };
    let wire = || Via::Subscription { id: "sub_1".into() };
    assert_eq!(why(&plane, &question, answered(Accept, wire())), Some(NotCounted::NotShown));
    assert_eq!(why(&plane, &question, answered(Reject, wire())), None, "a rejection needs nothing");
    assert_eq!(why(&plane, &question, answered(Accept, Via::Page)), None);
}

/// AAEP-6.2.4-03
#[test]
fn policy_defines_the_approvers_and_the_rejecters() {
    let cases: [(RowKey, YesNo, bool); 10] = [
        (ALICE, Accept, false),
        (ALICE, Reject, true),
        (BOB, Accept, true),
        (BOB, Reject, true),
        (CAROL, Accept, true),
        (CAROL, Reject, true),
        (DAN, Accept, false),
        (DAN, Reject, false),
        (ADMIN, Accept, false),
        (ADMIN, Reject, false),
    ];
    for (person, said, counts) in cases {
        let mut plane = Plane::new();
        let question = asked(&mut plane, &Ask::of("money.pay"));
        let refused = why(&plane, &question, answer(person, reply(said), NOW));
        assert_eq!(refused, (!counts).then_some(NotCounted::NotEntitled), "{person} {said:?}");
    }
}

#[test]
fn an_admins_switch_lets_people_approve_for_themselves() {
    let mut document = document();
    document.decisions.own_approval = true;
    let mut plane = Plane::with(document);
    let question = asked(&mut plane, &Ask::of("money.pay"));
    assert_eq!(why(&plane, &question, answer(ALICE, reply(Accept), NOW)), None);
    assert_eq!(why(&plane, &question, answer(DAN, reply(Accept), NOW)), Some(NotCounted::NotEntitled));
}

#[test]
fn without_named_approvers_only_the_person_concerned_answers() {
    let mut plane = Plane::new();
    let question = asked(&mut plane, &Ask::of("file.move"));
    for (person, counts) in [(ALICE, true), (BOB, false), (CAROL, false), (DAN, false), (ADMIN, false)] {
        assert_eq!(why(&plane, &question, answer(person, reply(Accept), NOW)).is_none(), counts, "{person}");
        assert_eq!(why(&plane, &question, answer(person, reply(Reject), NOW)).is_none(), counts, "{person}");
    }
}

/// AAEP-6.2.4-03
#[test]
fn a_reader_or_a_person_with_too_little_proof_does_not_answer() {
    let mut plane = Plane::new();
    let question = asked(&mut plane, &Ask::of("money.pay"));
    let by = |by: ProvenPerson| Answer { by, ..answer(BOB, reply(Accept), NOW) };
    let reads_only = ProvenPerson { may_answer: false, ..answerer(BOB, Assurance::Fresh) };
    assert_eq!(why(&plane, &question, by(reads_only)), Some(NotCounted::NotEntitled));
    for assurance in [Assurance::Local, Assurance::Token] {
        let weak = Some(NotCounted::TooWeak(Assurance::Session));
        assert_eq!(why(&plane, &question, by(answerer(BOB, assurance))), weak);
    }
    assert_eq!(why(&plane, &question, by(answerer(BOB, Assurance::Session))), None);

    let easy = asked(&mut plane, &Ask::of("file.move"));
    let local = Answer { by: answerer(ALICE, Assurance::Local), ..answer(ALICE, reply(Accept), NOW) };
    assert_eq!(why(&plane, &easy, local), Some(NotCounted::TooWeak(Assurance::Token)));
}

///
#[test]
fn a_person_removed_while_the_answer_is_under_way_has_not_answered() {
    let mut plane = Plane::new();
    let question = asked(&mut plane, &Ask::of("money.pay"));
    let yes = plane.answer(question.key, answer(BOB, reply(Accept), NOW), NOW).unwrap();
    let more_time = Extend { by: answerer(BOB, Assurance::Token), seconds: 9 };
    let more_time = more_time.decide(&plane.due_view(question.key), &plane.env(NOW)).unwrap();
    plane.store.standing.insert((Table::Membership, BOB), 2);
    for effects in [yes.effects, more_time.effects] {
        assert_eq!(plane.store.commit(&effects), Outcome::Stale);
    }
    assert!(plane.store.decision(question.key).is_pending());
}

/// AAEP-6.3.2-06
#[test]
fn a_decision_by_software_settles_nothing() {
    let mut plane = Plane::new();
    let question = asked(&mut plane, &Ask::of("file.move"));
    for who in ["auto:configured_policy", "system:x"] {
        let marked = Answer { decided_by: Some(who.into()), ..answer(ALICE, reply(Accept), NOW) };
        assert_eq!(why(&plane, &question, marked), Some(NotCounted::BySoftware));
    }
    assert!(plane.store.decision(question.key).is_pending());
}

/// AAEP-6.3.2-03, AAEP-6.3.2-04
#[test]
fn an_accept_of_something_else_is_a_rejection_with_a_proposal() {
    let mut plane = Plane::new();
    let question = asked(&mut plane, &Ask::of("file.move"));
    let proposal = json!({ "to": "the other folder" });
    let modified_action = Some(proposal.clone());
    let given = AnswerContent::Reply { decision: Accept, rationale: Some("rather there".into()), modified_action };
    let step = plane.answer(question.key, answer(ALICE, given, NOW), NOW).unwrap();
    let counted = plane.commit(step);
    assert!(counted.allowances.is_empty() && plane.store.allowances().next().is_none());
    let DecisionState::Rejected { proposal: kept, rationale, .. } = counted.decision.state else { panic!("not a no") };
    assert_eq!((kept, rationale.as_deref()), (Some(proposal), Some("rather there")));
}

/// AAEP-6.3.2-04, AAEP-6.3.4-06
#[test]
fn only_an_allowed_reply_counts_by_its_meaning() {
    let modified = AnswerContent::Reply { decision: Accept, rationale: None, modified_action: Some(json!({})) };
    let mut plane = Plane::new();
    let only_no = Ask { question: confirmation("file.move", &[Reject]), ..Ask::of("file.move") };
    let question = asked(&mut plane, &only_no);
    let refused = Some(NotCounted::NotAllowed);
    assert_eq!(why(&plane, &question, answer(ALICE, reply(Accept), NOW)), refused);
    assert_eq!(why(&plane, &question, answer(ALICE, modified, NOW)), refused);
    let response = AnswerContent::Response { response: json!("yes"), confidence: None };
    assert_eq!(why(&plane, &question, answer(ALICE, response, NOW)), refused);
    assert_eq!(why(&plane, &question, answer(ALICE, reply(Reject), NOW)), None);
}

/// AAEP-6.2.4-02, AAEP-6.3.2-01, AAEP-6.3.2-05
#[test]
fn the_evidence_names_the_proven_person_and_keeps_the_claimed_one_beside() {
    let mut plane = Plane::new();
    let question = asked(&mut plane, &Ask::of("money.pay"));
    let mut given = answer(BOB, reply(Accept), NOW.plus_secs(-9));
    given.decided_by = Some("user:somebody_else".into());
    given.correlation_id = Some("trace-7".into());
    let step = plane.answer(question.key, given, NOW).unwrap();
    plane.commit(step);
    let entry = plane.store.evidence.last().unwrap();
    let openings: Value = serde_json::from_str(entry.leaf.openings.as_deref().unwrap()).unwrap();
    let opened = |name: &str| openings[name]["value"].clone();
    assert_eq!(opened("decided_by"), "person-202");
    assert_eq!(opened("claimed_decided_by"), "user:somebody_else");
    assert_eq!(opened("correlation_id"), "trace-7");
    let leaf: Value = serde_json::from_slice(&entry.leaf.bytes).unwrap();
    assert_eq!(
        (&leaf["state"], &leaf["assurance"], &leaf["via"]),
        (&json!("accepted"), &json!("fresh"), &json!("page"))
    );
    assert!(!String::from_utf8_lossy(&entry.leaf.bytes).contains("person-202"), "people are hidden");
}

pub(crate) fn copy(answer: &Answer) -> Answer {
    Answer {
        by: answer.by.clone(),
        given: answer.given.clone(),
        claimed_at: answer.claimed_at,
        decided_by: answer.decided_by.clone(),
        correlation_id: answer.correlation_id.clone(),
        extra: answer.extra.clone(),
    }
}
