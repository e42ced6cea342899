//! Answers to questions without an execution (AAEP 6.5).

use crate::{
    decision_answers::copy,
    decision_world::{ALICE, Ask, BOB, NOW, Plane, answer, answerer, at_deadline, clarification, reply},
};
use countersign_core::{
    decision::answer::{Answer, AnswerContent, NotCounted, accepts_response},
    records::{Assurance, Clarification, DecisionState, Defaulted},
};
use countersign_protocol::aaep::event::{Choice, ResponseKind, YesNo};
use serde_json::{Value, json};

const KINDS: [ResponseKind; 4] =
    [ResponseKind::Freetext, ResponseKind::YesNo, ResponseKind::MultipleChoice, ResponseKind::Numeric];

/// A choice's value, a label, another text, an empty text, a number, the same number as text, and a boolean.
fn responses() -> [Value; 7] {
    [json!("a"), json!("the first"), json!("else"), json!(""), json!(67), json!("67"), json!(true)]
}

fn asks(kinds: &[ResponseKind]) -> Clarification {
    let choice = |value: &str, label: &str| Choice { value: value.into(), label: label.into() };
    let choices = match kinds.contains(&ResponseKind::MultipleChoice) {
        true => vec![choice("a", "the first"), choice("67", "the second")],
        false => Vec::new(),
    };
    Clarification { choices, ..clarification(kinds, None) }
}

/// AAEP-6.5.2-01, AAEP-6.5.2-02, AAEP-6.5.2-03, AAEP-6.5.2-04
#[test]
fn each_kind_takes_its_own_type_and_no_other() {
    let taken = |kind| responses().map(|response| accepts_response(&asks(&[kind]), &response));
    assert_eq!(taken(ResponseKind::Freetext), [true, true, true, false, false, true, false]);
    assert_eq!(taken(ResponseKind::YesNo), [false, false, false, false, false, false, true]);
    assert_eq!(taken(ResponseKind::MultipleChoice), [true, false, false, false, false, true, false]);
    assert_eq!(taken(ResponseKind::Numeric), [false, false, false, false, true, false, false]);
    for kind in KINDS {
        assert!(![json!(null), json!([]), json!({})].iter().any(|response| accepts_response(&asks(&[kind]), response)));
    }
}

/// AAEP-6.5.2-05
#[test]
fn several_kinds_take_any_value_of_each_kind() {
    for one in KINDS {
        for other in KINDS {
            for response in responses() {
                let either = accepts_response(&asks(&[one]), &response) || accepts_response(&asks(&[other]), &response);
                assert_eq!(accepts_response(&asks(&[one, other]), &response), either, "{one:?} {other:?} {response}");
            }
        }
    }
}

/// AAEP-6.5.2-01, AAEP-6.5.5-04
#[test]
fn a_response_of_no_accepted_kind_is_as_none_and_a_later_one_counts() {
    let mut plane = Plane::new();
    let step = plane.raise(&Ask::clarification(asks(&[ResponseKind::Freetext])), NOW).unwrap();
    let question = plane.commit(step).decision;
    let respond = |response: Value| answer(ALICE, AnswerContent::Response { response, confidence: Some(0.5) }, NOW);
    for wrong in [json!(67), json!(true), json!("")] {
        assert_eq!(plane.answer(question.key, respond(wrong), NOW).err(), Some(NotCounted::NotAllowed));
    }
    let yes = answer(ALICE, reply(YesNo::Accept), NOW);
    assert_eq!(plane.answer(question.key, yes, NOW).err(), Some(NotCounted::NotAllowed));
    let stranger = answer(BOB, AnswerContent::Response { response: json!("x"), confidence: None }, NOW);
    assert_eq!(plane.answer(question.key, stranger, NOW).err(), Some(NotCounted::NotEntitled));
    let step = plane.answer(question.key, respond(json!("the second")), NOW).unwrap();
    let counted = plane.commit(step);
    assert!(counted.allowances.is_empty(), "an answer lets nothing run");
    let DecisionState::Answered { response, confidence, .. } = counted.decision.state else { panic!("not answered") };
    assert_eq!((response, confidence), (json!("the second"), Some(0.5)));
}

/// AAEP-6.5.5-01
#[test]
fn a_response_passes_the_checks_of_a_reply_in_the_same_order() {
    let mut plane = Plane::new();
    let step = plane.raise(&Ask::clarification(asks(&[ResponseKind::Freetext])), NOW).unwrap();
    let question = plane.commit(step).decision;
    let deadline = NOW.plus_secs(question.terms.timeout_s);
    let text = |response: Value| AnswerContent::Response { response, confidence: None };
    let mut wrong = answer(BOB, text(json!(67)), deadline);
    wrong.decided_by = Some("system:x".into());
    type Repair = fn(&mut Answer);
    let checks: [(NotCounted, Repair); 6] = [
        (NotCounted::TooLate, |answer| answer.claimed_at = NOW.plus_secs(-301)),
        (NotCounted::TooEarly, |answer| answer.claimed_at = NOW.plus_secs(-200)),
        (NotCounted::BySoftware, |answer| answer.decided_by = Some("user:alice".into())),
        (NotCounted::NotEntitled, |answer| answer.by = answerer(ALICE, Assurance::Local)),
        (NotCounted::TooWeak(Assurance::Token), |answer| answer.by = answerer(ALICE, Assurance::Token)),
        (NotCounted::NotAllowed, |answer| {
            answer.given = AnswerContent::Response { response: json!("the second"), confidence: None };
        }),
    ];
    for (expected, repair) in checks {
        assert_eq!(plane.answer(question.key, copy(&wrong), NOW).err(), Some(expected));
        assert!(plane.store.decision(question.key).is_pending());
        repair(&mut wrong);
    }
    assert_eq!(plane.answer(question.key, copy(&wrong), deadline).err(), Some(NotCounted::TooLate));
    let step = plane.answer(question.key, copy(&wrong), NOW).unwrap();
    plane.commit(step);
    assert_eq!(plane.answer(question.key, wrong, NOW).err(), Some(NotCounted::Settled));
}

/// AAEP-6.5.5-05
#[test]
fn nobodys_answer_is_the_default_or_unavailable_and_never_made_up() {
    for early in [false, true] {
        for (default, expected) in
            [(Some("the first"), Defaulted::Response { response: "the first".into() }), (None, Defaulted::Unavailable)]
        {
            let mut document = crate::decision_world::document();
            document.decisions.early_reject = early;
            let mut plane = Plane::with(document);
            let asked = Ask::clarification(clarification(&[ResponseKind::Freetext], default));
            let step = plane.raise(&Ask { somebody_there: !early, ..asked }, NOW).unwrap();
            let question = plane.commit(step).decision;
            if !early {
                plane.store.now = NOW.plus_secs(question.terms.timeout_s);
                let step = plane.due(question.key, at_deadline(), plane.store.now).unwrap();
                plane.commit(step);
            }
            let DecisionState::Expired { as_if, .. } = &plane.store.decision(question.key).state else {
                panic!("not expired")
            };
            assert_eq!(*as_if, expected);
            assert!(plane.store.allowances().next().is_none());
        }
    }
}
