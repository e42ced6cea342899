//! The offers to a person: never more than the answer operation accepts, and never less.

use crate::decision_world::{
    ALICE, Ask, BOB, CAROL, DAN, NOW, PEOPLE, Plane, answerer, clarification, confirmation, reply,
};
use countersign_core::{
    decision::{
        answer::{Answer, AnswerView, Extra, ProvenPerson},
        due::DueView,
        offers::offers,
    },
    mplp::roles::Deciding,
    records::{Assurance, Decision, DecisionState, Defaulted},
    step::Operation,
};
use countersign_protocol::{
    aaep::{
        event::{ResponseKind, YesNo},
        questions::Offer,
    },
    mplp::Governance,
    time::UnixMillis,
};

fn asked(ask: &Ask) -> (Plane, Decision) {
    let mut plane = Plane::new();
    let raised = plane.raise(ask, NOW).unwrap();
    let decision = plane.commit(raised).decision;
    (plane, decision)
}

fn offer(decision: &Decision, by: &ProvenPerson) -> Offer {
    offers(decision, by).offer
}

fn locked(decision: &Decision) -> Decision {
    let governance = Some(Governance { locked: Some(true), ..Governance::default() });
    Decision { governance, ..decision.clone() }
}

/// Whether the operation accepts this reply about the decision.
fn accepts(plane: &Plane, decision: &Decision, by: &ProvenPerson, given: YesNo) -> bool {
    let DueView { place, session, plan, .. } = plane.due_view(decision.key);
    let policy = plane.project.document.plans.clone();
    let view = AnswerView {
        place,
        pause_s: 600,
        decision: decision.clone(),
        session,
        plan,
        asked_for: None,
        boundary: None,
        policy,
        gap: None,
        widening: None,
    };
    let extra = Extra { by_override: decision.is_locked(), ..Extra::default() };
    let answer =
        Answer { by: by.clone(), given: reply(given), claimed_at: NOW, decided_by: None, correlation_id: None, extra };
    answer.decide(&view, &plane.env(NOW)).is_ok()
}

/// M-06, M-27
#[test]
fn every_person_is_offered_exactly_the_answers_that_would_count() {
    let proofs = [Assurance::Local, Assurance::Token, Assurance::Session, Assurance::Fresh];
    let mut seen = [0; 4];
    for action in ["lamp.dim", "money.pay"] {
        let (plane, decision) = asked(&Ask::of(action));
        for decision in [decision.clone(), locked(&decision)] {
            for (person, assurance) in PEOPLE.into_iter().flat_map(|person| proofs.map(|proof| (person, proof))) {
                let by = answerer(person, assurance);
                let own_roles = Deciding::of(&plane.project.document, &by.subject, &by.roles);
                for deciding in [by.deciding.clone(), own_roles, Deciding::none()] {
                    let by = ProvenPerson { deciding, ..by.clone() };
                    let counts = [YesNo::Accept, YesNo::Reject].map(|given| accepts(&plane, &decision, &by, given));
                    match offer(&decision, &by) {
                        Offer::Decide { approve, reject } => {
                            assert_eq!([approve, reject], counts, "{action} {by:?}");
                            seen[0] += 1;
                        }
                        // The person the agent acts for can reject with any proof.
                        Offer::ProveFirst => {
                            let own = person == ALICE && assurance >= Assurance::Token;
                            assert_eq!(counts, [false, own], "{action} {by:?}");
                            seen[1] += 1;
                        }
                        Offer::Locked => {
                            assert_eq!(counts, [false, false], "{action} {by:?}");
                            seen[2] += 1;
                        }
                        Offer::Nothing => {
                            assert_eq!(counts, [false, false], "{action} {by:?}");
                            seen[3] += 1;
                        }
                        other => panic!("{other:?} for {by:?}"),
                    }
                }
            }
        }
    }
    assert!(seen.iter().all(|times| *times > 5), "{seen:?}");
}

///
#[test]
fn an_offer_names_the_reason_for_being_less_than_an_answer() {
    let (_, pay) = asked(&Ask::of("money.pay"));
    let decide = |approve, reject| Offer::Decide { approve, reject };
    let session = |person| answerer(person, Assurance::Session);
    for (person, expected) in
        [(BOB, decide(true, true)), (CAROL, decide(true, true)), (ALICE, decide(false, true)), (DAN, Offer::Nothing)]
    {
        assert_eq!(offer(&pay, &session(person)), expected, "{person}");
    }
    assert_eq!(offer(&pay, &answerer(BOB, Assurance::Token)), Offer::ProveFirst);
    let reads_only = ProvenPerson { may_answer: false, ..session(BOB) };
    assert_eq!((offer(&pay, &reads_only), offers(&pay, &reads_only).more_time_seconds), (Offer::Nothing, vec![]));
    assert_eq!(offer(&locked(&pay), &session(BOB)), Offer::Locked);
    let mut strict = pay.clone();
    strict.terms.floor = Assurance::Passkey;
    assert_eq!(offer(&strict, &answerer(BOB, Assurance::Fresh)), Offer::NotHere);
    let no_only = Ask { question: confirmation("file.move", &[YesNo::Reject]), ..Ask::of("file.move") };
    assert_eq!(offer(&asked(&no_only).1, &session(ALICE)), decide(false, true));
    let over = DecisionState::Expired { at: NOW, as_if: Defaulted::Reject };
    assert_eq!(offer(&Decision { state: over, ..pay }, &session(BOB)), Offer::Nothing);

    let kinds = [ResponseKind::YesNo, ResponseKind::Freetext];
    let (_, unclear) = asked(&Ask::clarification(clarification(&kinds, None)));
    assert_eq!(offer(&unclear, &session(ALICE)), Offer::Respond { kinds: kinds.to_vec() });
    assert_eq!(offer(&unclear, &session(DAN)), Offer::Nothing);
}

/// AAEP 6.4.2
#[test]
fn only_extensions_that_move_the_deadline_are_offered() {
    let (_, mut decision) = asked(&Ask::of("lamp.dim"));
    let DecisionState::Pending { deadline, .. } = decision.state else { panic!("{:?}", decision.state) };
    let mut with = |latest: UnixMillis| {
        decision.terms.latest = latest;
        offers(&decision, &answerer(ALICE, Assurance::Token)).more_time_seconds
    };
    assert_eq!(with(deadline), Vec::<i64>::new());
    assert_eq!(with(deadline.plus_secs(1)), [60]);
    assert_eq!(with(deadline.plus_secs(60)), [60]);
    assert_eq!(with(deadline.plus_secs(61)), [60, 300]);
}
