//! No silent assumptions: the origin of every value in the accepted plan.

use super::support::{Given, SESSION, Session, eventful, eventful_plan, eventful_registry, gap, key, registry};
use countersign_jose::clarification::{Flaw, Wrong, check_audit};
use countersign_protocol::clarification::Severity;
use serde_json::{Value, json};

fn refused(accepted: &Value) -> Wrong {
    check_audit(&eventful().audit(Some(accepted)), &eventful_registry()).unwrap_err()
}

/// WWA-7-16
#[test]
fn a_value_that_nobody_submitted_and_nobody_answered_is_named() {
    let cases = [
        ("/currency", json!("EUR")),
        ("/payee/country", json!("DE")),
        ("/extra", json!({})),
        ("/extra", json!(null)),
        ("/payee/list", json!([1])),
    ];
    for (place, value) in cases {
        let mut accepted = eventful_plan();
        let (parent, name) = place.rsplit_once('/').unwrap();
        accepted.pointer_mut(parent).unwrap()[name] = value;
        let wrong = refused(&accepted);
        assert!(wrong.place.starts_with(&format!("accepted_plan{place}")), "{wrong}");
        assert_eq!(wrong.flaw, Flaw::Assumed);
    }
}

/// WWA-7-16
#[test]
fn a_submitted_value_is_neither_changed_nor_lost() {
    let mut changed = eventful_plan();
    changed["amount"] = json!(82_001);
    let wrong = refused(&changed);
    assert_eq!((wrong.place.as_str(), wrong.flaw), ("accepted_plan/amount", Flaw::Assumed));
    let mut lost = eventful_plan();
    lost.as_object_mut().unwrap().remove("amount");
    let wrong = refused(&lost);
    assert_eq!((wrong.place.as_str(), wrong.flaw), ("accepted_plan/amount", Flaw::Lost));
}

/// WWA-7-16
#[test]
fn an_answer_is_in_the_plan_as_it_was_given() {
    let mut other = eventful_plan();
    other["payee"]["account"] = json!("DE99");
    assert_eq!(refused(&other).place, "accepted_plan/payee/account");
    let mut dropped = eventful_plan();
    dropped["payee"].as_object_mut().unwrap().remove("account");
    let wrong = refused(&dropped);
    assert_eq!(
        (wrong.place.as_str(), wrong.flaw),
        ("accepted_plan/payee/account", Flaw::AnswerDropped { gap_id: "gap-003".into() })
    );
}

/// WWA-7-16: older documents have the word `accept` as the value instead.
#[test]
fn an_accepted_warning_leaves_the_plan_as_it_is() {
    let mut left = eventful_plan();
    left.as_object_mut().unwrap().remove("terms");
    assert!(check_audit(&eventful().audit(Some(&left)), &eventful_registry()).is_ok());
    left["terms"] = json!("something else");
    assert_eq!(refused(&left).place, "accepted_plan/terms");
}

/// WWA-7-16
#[test]
fn an_answer_to_an_earlier_plan_may_be_in_it_and_need_not_be() {
    assert!(check_audit(&eventful().audit(Some(&eventful_plan())), &eventful_registry()).is_ok());
    let mut with = eventful_plan();
    // Answered as "two": the suggestion's own spelling counts.
    with["purpose"] = json!("Two");
    assert!(check_audit(&eventful().audit(Some(&with)), &eventful_registry()).is_ok());
    with["purpose"] = json!("two");
    assert_eq!(refused(&with).place, "accepted_plan/purpose");
}

/// WWA-7-16
#[test]
fn an_answer_that_was_not_taken_explains_nothing() {
    let mut session = Session::begin(SESSION, key(1), json!({}));
    let account = gap(1, "payee.account", Severity::Block);
    session.round(&account, Given::escalated("DE99"));
    session.round(&account, Given::person("DE02"));
    let known = registry(&[&key(1)]);
    let verdict =
        |account: &str| check_audit(&session.audit(Some(&json!({ "payee": { "account": account } }))), &known);
    assert!(verdict("DE02").is_ok());
    assert_eq!(verdict("DE99").unwrap_err().flaw, Flaw::Assumed);
}

/// WWA-7-16
#[test]
fn answers_are_written_as_the_kind_that_was_asked_for_and_in_lists() {
    let plan = json!({ "items": [{ "name": "a" }, { "name": "b" }], "later": null });
    let mut session = Session::begin(SESSION, key(1), plan);
    let mut place = |number, pointer: &str, answer: &str| {
        let mut gap = gap(number, "some.field", Severity::Block);
        gap.pointer = Some(pointer.into());
        session.round(&gap, Given::own(answer));
    };
    place(1, "/items/1/count", "12.5");
    place(2, "/items/0/ok", "True");
    place(3, "/a~1b", "slash");
    let mut dotted = gap(4, "items[0].type", Severity::Block);
    dotted.pointer = None;
    session.round(&dotted, Given::own("tool"));
    let accepted = json!({
        "items": [{ "name": "a", "ok": true, "type": "tool" }, { "name": "b", "count": 12.5 }],
        "later": null,
        "a/b": "slash",
    });
    let known = registry(&[&key(1)]);
    check_audit(&session.audit(Some(&accepted)), &known).unwrap();
    for (place, value) in [("/items/1/count", json!(12)), ("/items/0/ok", json!(false)), ("/later", json!(1))] {
        let mut other = accepted.clone();
        *other.pointer_mut(place).unwrap() = value;
        let wrong = check_audit(&session.audit(Some(&other)), &known).unwrap_err();
        assert_eq!(wrong.place, format!("accepted_plan{place}"));
    }
}
