//! Bounds that a person may attach to an approval.

use crate::{
    decision_store::Outcome,
    decision_world::{ADMIN, ALICE, Ask, BOB, DAN, NOW, Plane, answerer},
    plan_world::{call, document, only, plan_of, use_of, yes},
};
use countersign_core::{
    decision::{
        answer::{Answer, Extra, NotCounted, ProvenPerson},
        grant::AskedFor,
        outcome::OutcomeReport,
        revoke::RevokeApproval,
    },
    records::{Allowance, AllowanceState, Assurance, CancelledFor, Point},
    refusal::Refusal,
};
use countersign_protocol::{bounds::Bounds, ids::RowKey};
use serde_json::{Value, json};

fn shown() -> AskedFor {
    call("pay", &paying("1.00"))
}

fn paying(amount: &str) -> Value {
    json!({ "to": "z", "amount": amount, "currency": "EUR" })
}

fn bounded(person: RowKey, bounds: Value) -> Answer {
    let extra = Extra { bounds: Some(serde_json::from_value(bounds).unwrap()), ..Extra::default() };
    Answer { extra, ..yes(person) }
}

fn asked(plane: &mut Plane, action: &'static str) -> RowKey {
    let step = plane.raise(&Ask::of(action), NOW).unwrap();
    plane.commit(step).decision.key
}

fn refused(plane: &Plane, asked: RowKey, asked_for: Option<AskedFor>, answer: Answer) -> String {
    match plane.answer_about(asked, asked_for, answer, NOW).map(drop) {
        Err(NotCounted::OutOfBounds(why)) => why,
        other => panic!("{other:?}"),
    }
}

/// A standing approval of payments within these bounds.
fn granted(plane: &mut Plane, bounds: Value) -> Allowance {
    let asked = asked(plane, "pay");
    let step = plane.answer_about(asked, Some(shown()), bounded(ALICE, bounds), NOW).unwrap();
    let allowances = plane.commit(step).allowances;
    let [one] = allowances.as_slice() else { panic!("{allowances:?}") };
    one.clone()
}

///
#[test]
fn a_plan_has_the_bounds_of_its_steps_and_only_a_plan_has_steps() {
    let mut plane = Plane::with(document());
    let (_, plan) = plane.proposed(&plan_of(&[(&[], json!({ "tool": "look" }))]));
    assert!(refused(&plane, plan, Some(shown()), bounded(ALICE, json!({ "uses": 2 }))).contains("of its steps"));
    let mut both = bounded(ALICE, json!({ "uses": 2 }));
    both.extra.steps = only(&[1]).steps;
    assert!(refused(&plane, plan, Some(shown()), both).contains("of its steps"));
    let asked = asked(&mut plane, "pay");
    let steps = Answer { extra: only(&[1]), ..yes(ALICE) };
    assert!(refused(&plane, asked, Some(shown()), steps).contains("only a plan"));
    assert_eq!(plane.store.allowances().count(), 0);
}

///
#[test]
fn bounds_beyond_the_projects_are_refused() {
    let mut plane = Plane::with(document());
    let asked = asked(&mut plane, "pay");
    // Built directly, to include values that the wire format rejects.
    let beyond = |uses, seconds| {
        let extra = Extra { bounds: Some(Bounds { uses, seconds, ..Bounds::default() }), ..Extra::default() };
        refused(&plane, asked, Some(shown()), Answer { extra, ..yes(ALICE) })
    };
    for number in [0, -1, 1001] {
        assert!(beyond(Some(number), None).contains("1 to 10 calls"), "{number}");
        assert!(beyond(None, Some(number)).contains("1 to 1000 seconds"), "{number}");
    }
    assert!(beyond(Some(11), None).contains("1 to 10 calls"));
    let none = bounded(ALICE, json!({ "uses": 2 }));
    assert!(refused(&plane, asked, None, none).contains("as shown"), "nobody knows what it would be a pattern of");
    for released in [
        json!({ "nothing": { "text": 5 } }),
        json!({ "amount": { "most": "0.99", "unit_from": "currency" } }),
        json!({ "amount": { "most": "5.00", "unit": "USD", "unit_from": "currency" } }),
        json!({ "amount": { "most": "5.00", "sum": "9.00" } }),
    ] {
        let answer = bounded(ALICE, json!({ "uses": 2, "released": released }));
        refused(&plane, asked, Some(shown()), answer);
    }
    assert!(plane.store.decision(asked).is_pending() && plane.store.allowances().next().is_none());
    for edge in [json!({ "uses": 10, "seconds": 1000 }), json!({ "uses": 1, "seconds": 1 })] {
        assert!(plane.answer_about(asked, Some(shown()), bounded(ALICE, edge), NOW).is_ok());
    }
}

///
#[test]
fn no_argument_of_an_irreversible_high_risk_action_is_released() {
    let mut plane = Plane::with(document());
    let asked = asked(&mut plane, "vault");
    let vault = || Some(call("vault", &json!({ "door": "left", "n": 1 })));
    let open = json!({ "released": { "door": { "text": 9 } } });
    let why = refused(&plane, asked, vault(), bounded(BOB, open));
    assert!(why.contains("cannot be undone"), "{why}");
    let twice = plane.answer_about(asked, vault(), bounded(BOB, json!({ "uses": 2 })), NOW).unwrap();
    let [allowance] = twice.answer.allowances.as_slice() else { panic!() };
    assert!(allowance.pattern.as_ref().unwrap().released().is_empty());
}

/// Only the released argument may vary: within its bound per call, and within the sum over all calls.
#[test]
fn a_standing_approval_covers_calls_within_its_bounds_and_nothing_else() {
    let mut plane = Plane::with(document());
    let released = json!({ "amount": { "most": "3.00", "sum": "5.00", "unit_from": "currency" } });
    let allowance = granted(&mut plane, json!({ "uses": 3, "seconds": 200, "released": released }));
    assert_eq!(allowance.until, NOW.plus_secs(200));
    let unlike = [
        json!({ "to": "y", "amount": "1.00", "currency": "EUR" }),
        json!({ "to": "z", "amount": "3.01", "currency": "EUR" }),
        json!({ "to": "z", "amount": 1, "currency": "EUR" }),
        json!({ "to": "z", "amount": "1.00", "currency": "USD" }),
        json!({ "to": "z", "amount": "1.00" }),
        json!({ "to": "z", "amount": "1.00", "currency": "EUR", "note": "" }),
    ];
    for arguments in unlike {
        let claim = use_of(&plane, call("pay", &arguments));
        let refused = plane.claim_of(allowance.key, claim, true, NOW);
        assert!(matches!(refused, Err(Refusal::ConfirmationInvalid(_))), "{arguments}");
    }
    let other_tool = use_of(&plane, call("send", &paying("1.00")));
    assert!(matches!(plane.claim_of(allowance.key, other_tool, true, NOW), Err(Refusal::ConfirmationInvalid(_))));
    let mut elsewhere = use_of(&plane, shown());
    elsewhere.point = Point::Gateway;
    assert!(matches!(plane.claim_of(allowance.key, elsewhere, true, NOW), Err(Refusal::ConfirmationInvalid(_))));
    let mut unsaid = use_of(&plane, shown());
    unsaid.call = None;
    assert!(matches!(plane.claim_of(allowance.key, unsaid, true, NOW), Err(Refusal::ConfirmationInvalid(_))));
    for (amount, fits) in [("3.00", true), ("2.01", false), ("2.00", true), ("0.01", false), ("0.00", true)] {
        let claim = use_of(&plane, call("pay", &paying(amount)));
        let claimed = plane.claim_of(allowance.key, claim, true, NOW);
        assert_eq!(claimed.is_ok(), fits, "{amount}");
        if let Ok(step) = claimed {
            plane.commit(step);
        }
    }
    assert_eq!(plane.store.allowance(allowance.key).state, AllowanceState::Spent);
}

/// Two nodes that both saw the last use make one of it.
#[test]
fn the_last_use_is_claimed_once_however_many_saw_it() {
    let mut plane = Plane::with(document());
    let released = json!({ "amount": { "most": "3.00", "sum": "5.00", "unit_from": "currency" } });
    for (uses, first, second) in [(1, "1.00", "2.00"), (9, "3.00", "2.50")] {
        let allowance = granted(&mut plane, json!({ "uses": uses, "released": released }));
        let claim = |amount| plane.claim_of(allowance.key, use_of(&plane, call("pay", &paying(amount))), true, NOW);
        let (one, other) = (claim(first).unwrap(), claim(second).unwrap());
        plane.commit(one);
        assert_eq!(plane.store.commit(&other.effects), Outcome::Stale);
        let again = plane.claim_of(allowance.key, use_of(&plane, call("pay", &paying(second))), true, NOW);
        assert!(matches!(again, Err(Refusal::ApprovalGone(_))), "and finds nothing left");
        let run = plane.store.executions().find(|run| run.allowance == allowance.key).unwrap().key;
        let step = plane.on_use(run, OutcomeReport::Committed, NOW).unwrap();
        plane.commit(step);
    }
}

/// The reserved amount is returned only if the upstream itself refused the call.
#[test]
fn only_limits_of_calls_refused_by_the_service_itself_are_given_back() {
    for (report, returns) in [
        (OutcomeReport::Failed { why: None, refused: true }, true),
        (OutcomeReport::Failed { why: None, refused: false }, false),
        (OutcomeReport::Committed, false),
        (OutcomeReport::Lost, false),
    ] {
        let mut plane = Plane::with(document());
        let released = json!({ "amount": { "most": "3.00", "sum": "5.00", "unit_from": "currency" } });
        let allowance = granted(&mut plane, json!({ "uses": 2, "released": released })).key;
        let step = plane.claim_of(allowance, use_of(&plane, call("pay", &paying("3.00"))), true, NOW).unwrap();
        let run = plane.commit(step).key;
        let step = plane.on_use(run, report.clone(), NOW).unwrap();
        plane.commit(step);
        let tally = &plane.store.allowance(allowance).tally;
        let spent = tally.sums["amount"].spent.to_string();
        assert_eq!((tally.used, spent.as_str()), if returns { (0, "0.00") } else { (1, "3.00") }, "{report:?}");
    }
}

///
#[test]
fn an_approval_is_revoked_by_the_people_concerned_and_then_runs_nothing_more() {
    for (person, may) in [(ALICE, true), (ADMIN, true), (DAN, false), (BOB, false)] {
        let mut plane = Plane::with(document());
        let allowance = granted(&mut plane, json!({ "uses": 2 })).key;
        let back = |may_answer| {
            let by = ProvenPerson { may_answer, ..answerer(person, Assurance::Token) };
            RevokeApproval { by, reason: None }
        };
        let reads_only = plane.on_allowance(allowance, back(false), NOW).map(drop);
        assert!(matches!(reads_only, Err(Refusal::NotAuthorized(_))));
        match plane.on_allowance(allowance, back(true), NOW) {
            Ok(step) => drop(plane.commit(step)),
            Err(why) => assert!(!may && matches!(why, Refusal::NotAuthorized(_)), "{person}: {why:?}"),
        }
        let state = plane.store.allowance(allowance).state;
        assert_eq!(matches!(state, AllowanceState::Cancelled { why: CancelledFor::TakenBack, .. }), may);
        let claimed = plane.claim_of(allowance, use_of(&plane, shown()), true, NOW);
        assert_eq!(claimed.is_ok(), !may, "{person}");
    }
}
