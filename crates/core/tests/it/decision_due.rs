//! Deadlines, reminders and defaults (AAEP 6.4, R-6, R-21).

use crate::{
    decision_store::Outcome,
    decision_world::{ALICE, Ask, BOB, DAN, NOW, Plane, answerer, at_deadline, document},
};
use countersign_core::{
    decision::{
        answer::NotCounted,
        due::{self, QuestionDue},
        extend::Extend,
        terms::Wishes,
    },
    records::{Assurance, Decision, DecisionState, Defaulted},
    step::Operation as _,
};
use countersign_protocol::{
    aaep::event::{Payload, YesNo},
    time::UnixMillis,
};

/// A question with this timeout that defaults to accept.
fn asked(plane: &mut Plane, seconds: i64) -> Decision {
    let wishes = Wishes { timeout_s: Some(seconds), default: Some(YesNo::Accept), ..Wishes::default() };
    let step = plane.raise(&Ask { wishes, ..Ask::of("lamp.dim") }, NOW).unwrap();
    plane.commit(step).decision
}

fn came_to(plane: &Plane, question: &Decision) -> Option<Defaulted> {
    match &plane.store.decision(question.key).state {
        DecisionState::Expired { as_if, .. } => Some(as_if.clone()),
        DecisionState::Pending { .. } => None,
        other => panic!("{other:?}"),
    }
}

fn progress(plane: &Plane) -> Vec<(UnixMillis, Option<i64>)> {
    let updates = plane.store.said.iter().filter_map(|said| match &said.event.payload {
        Payload::ProgressUpdated(update) => Some((said.event.envelope.timestamp, update.eta_ms)),
        _ => None,
    });
    updates.collect()
}

/// AAEP-6.4.3-02
#[test]
fn the_countdown_speaks_at_half_of_the_time_and_at_a_tenth() {
    let (start, end) = (NOW, NOW.plus_secs(200));
    let mut moments = Vec::new();
    let mut after = start;
    while after < end {
        after = due::next(start, end, after);
        moments.push(after.millis_since(start) / 1000);
    }
    assert_eq!(moments, [100, 180, 200]);
    assert_eq!(due::next(start, NOW.plus_secs(60), start), NOW.plus_secs(60), "sixty seconds are not counted down");
}

/// AAEP-6.4.3-01, AAEP-6.4.3-02
#[test]
fn checks_every_second_announce_the_remaining_time_twice() {
    for (seconds, expected) in [(120, vec![(60, 60), (108, 12)]), (60, vec![])] {
        let mut plane = Plane::new();
        let question = asked(&mut plane, seconds);
        for second in 0..seconds {
            plane.store.now = NOW.plus_secs(second);
            let step = plane.due(question.key, at_deadline(), plane.store.now).unwrap();
            plane.commit(step);
        }
        let said: Vec<_> = progress(&plane)
            .into_iter()
            .map(|(at, left)| (at.millis_since(NOW) / 1000, left.unwrap() / 1000))
            .collect();
        assert_eq!(said, expected);
        assert_eq!(came_to(&plane, &question), None);
    }
}

/// AAEP-6.4-01
#[test]
fn the_deadline_is_judged_by_the_stores_clock() {
    let mut plane = Plane::new();
    let question = asked(&mut plane, 40);
    let deadline = NOW.plus_secs(40);
    plane.store.now = deadline.plus_millis(-1);
    let fast = plane.due(question.key, at_deadline(), deadline).unwrap();
    assert_eq!(plane.store.commit(&fast.effects), Outcome::OutOfTime, "a fast clock brings it no nearer");
    plane.store.now = deadline;
    let slow = plane.due(question.key, at_deadline(), deadline.plus_millis(-1)).unwrap();
    assert!(slow.effects.is_empty(), "a slow one waits for itself");
    let step = plane.due(question.key, at_deadline(), deadline).unwrap();
    plane.commit(step);
    assert_eq!(came_to(&plane, &question), Some(Defaulted::Accept));
    let again = plane.due(question.key, at_deadline(), deadline).unwrap();
    assert!(again.effects.is_empty());
}

///
#[test]
fn a_default_approval_is_given_on_time_or_not_at_all() {
    let deadline = NOW.plus_secs(40);
    let cases = [
        (deadline.plus_secs(5), NOW, Defaulted::Accept),
        (deadline.plus_secs(5).plus_millis(1), NOW, Defaulted::Reject),
        (deadline.plus_secs(1), deadline, Defaulted::Accept),
        (deadline.plus_secs(1), deadline.plus_millis(1), Defaulted::Reject),
        (deadline.plus_secs(86_400), deadline.plus_secs(86_400), Defaulted::Reject),
    ];
    for (now, serving_since, expected) in cases {
        let mut plane = Plane::new();
        let question = asked(&mut plane, 40);
        plane.store.now = now;
        let due = QuestionDue { serving_since, nobody_there: false };
        let step = plane.due(question.key, due, now).unwrap();
        plane.commit(step);
        assert_eq!(came_to(&plane, &question), Some(expected), "{now:?} {serving_since:?}");
    }
}

///
#[test]
fn a_default_approval_that_was_long_under_way_does_not_count() {
    let mut plane = Plane::new();
    let question = asked(&mut plane, 40);
    let deadline = NOW.plus_secs(40);
    plane.store.now = deadline;
    let step = plane.due(question.key, at_deadline(), deadline).unwrap();
    plane.store.now = deadline.plus_secs(6);
    assert_eq!(plane.store.commit(&step.effects), Outcome::OutOfTime);
    let step = plane.due(question.key, at_deadline(), plane.store.now).unwrap();
    plane.commit(step);
    assert_eq!(came_to(&plane, &question), Some(Defaulted::Reject));
}

/// AAEP-6.4-02
#[test]
fn absence_is_never_an_approval() {
    let mut plane = Plane::new();
    let question = asked(&mut plane, 40);
    let nobody = QuestionDue { serving_since: NOW, nobody_there: true };
    let step = plane.due(question.key, nobody, NOW.plus_secs(1)).unwrap();
    plane.commit(step);
    assert_eq!(came_to(&plane, &question), Some(Defaulted::Reject));

    let mut early = document();
    early.decisions.early_reject = true;
    let mut plane = Plane::with(early);
    let ask = Ask { somebody_there: false, ..Ask::of("lamp.dim") };
    let step = plane.raise(&ask, NOW).unwrap();
    let question = plane.commit(step).decision;
    assert_eq!(came_to(&plane, &question), Some(Defaulted::Reject));
    let written: Vec<_> = plane.store.evidence.iter().map(|entry| entry.event_type).collect();
    assert_eq!(written, ["decision_raised", "decision_settled"]);

    let mut waiting = Plane::new();
    let step = waiting.raise(&Ask { somebody_there: false, ..Ask::of("lamp.dim") }, NOW).unwrap();
    let question = waiting.commit(step).decision;
    assert_eq!(came_to(&waiting, &question), None, "without the switch it waits");
}

/// AAEP-6.4.2-06
#[test]
fn more_time_is_given_within_policys_bound_by_those_concerned_and_recorded() {
    let mut plane = Plane::new();
    let question = asked(&mut plane, 40);
    let extend = |plane: &Plane, person, seconds, now| {
        let extend = Extend { by: answerer(person, Assurance::Token), seconds };
        extend.decide(&plane.due_view(question.key), &plane.env(now))
    };
    assert_eq!(extend(&plane, DAN, 30, NOW).err(), Some(NotCounted::NotEntitled));
    assert_eq!(extend(&plane, BOB, 30, NOW).err(), Some(NotCounted::NotEntitled));
    assert_eq!(extend(&plane, ALICE, 30, NOW.plus_secs(40)).err(), Some(NotCounted::TooLate));
    assert_eq!(extend(&plane, ALICE, -30, NOW).unwrap().answer, NOW.plus_secs(40), "no extension takes time away");
    let step = extend(&plane, ALICE, 30, NOW).unwrap();
    assert_eq!(plane.commit(step), NOW.plus_secs(70));
    assert_eq!(plane.store.evidence.last().unwrap().event_type, "decision_extended");
    assert_eq!(progress(&plane).last().unwrap().1, Some(70_000));
    let step = extend(&plane, ALICE, 9_000, NOW).unwrap();
    assert_eq!(plane.commit(step), NOW.plus_secs(140), "a hundred seconds more altogether");
    plane.store.now = NOW.plus_secs(139);
    let step = plane.due(question.key, at_deadline(), NOW.plus_secs(139)).unwrap();
    plane.commit(step);
    assert_eq!(came_to(&plane, &question), None);
}
