//! Undo windows: which documents can be applied, and what may happen to a held call (AAP 14.1, R-5, R-21).

use crate::{
    decision_world::{ADMIN, ALICE, Ask, NOW, Plane, answer, answerer, claim, reply},
    held::{document, route},
};
use countersign_core::{
    decision::{
        claim::Claim,
        queue::{Queue, QueueDue, SEND_WITHIN_S, Undo, UndoneBy},
    },
    project::{
        check,
        undo::{route_window_s, scope_window_s},
    },
    records::{Assurance, Decision, Raiser},
    refusal::Refusal,
};
use countersign_protocol::{aaep::event::YesNo, project::RouteUndo};
use serde_json::{Value, json};

fn problems(scope: Value, with: Value) -> String {
    let mut pay = json!({
        "id": "transfers.write", "description": "Send money", "allows": ["transfers.send"], "intent_types": ["PAY"],
    });
    pay.as_object_mut().unwrap().extend(scope.as_object().unwrap().clone());
    let document = document(json!({ "scopes": [pay], "routes": [route(with)] }));
    check(&document).iter().map(|problem| format!("{problem}\n")).collect()
}

/// AAP-14.1-06
#[test]
fn a_document_that_contradicts_itself_about_undo_is_refused_with_its_member_named() {
    let held = || json!({ "undo": { "by": "hold" } });
    assert_eq!(problems(json!({ "undo_window_s": 30 }), held()), "");
    assert_eq!(problems(json!({ "irreversible": true }), held()), "");
    assert_eq!(problems(json!({ "undo_window_s": 0 }), held()), "");
    for (scope, with, why) in [
        (json!({ "undo_window_s": 30 }), json!({}), "undo_window_s promises an undo"),
        (json!({ "undo_window_s": -1 }), held(), "undo_window_s must be 0 to 3600"),
        (json!({ "undo_window_s": 3601 }), held(), "undo_window_s must be 0 to 3600"),
        (json!({}), held(), "undo has no window: set undo_window_s"),
        (
            json!({ "undo_window_s": 30 }),
            json!({ "undo": { "by": "hold" }, "irreversible": false }),
            "undo is for calls that a person confirms",
        ),
    ] {
        let found = problems(scope.clone(), with);
        assert!(found.contains(why), "{scope}: {found:?}");
    }
}

/// AAP-14.1-06, R-31
#[test]
fn an_undo_of_calls_that_the_agents_own_word_suffices_for_is_refused() {
    let scope = |more: Value| {
        let mut scope = json!({ "undo_window_s": 30, "requires_confirmation": true, "confirmation": "self_asserted" });
        scope.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        scope
    };
    let of = |scope: Value, with: Value| {
        let mut route = json!({ "undo": { "by": "hold" }, "irreversible": null });
        route.as_object_mut().unwrap().extend(with.as_object().unwrap().clone());
        problems(scope, route)
    };
    let found = of(scope(json!({})), json!({}));
    assert!(found.contains("routes[0]: undo is for calls that a person confirms"), "{found:?}");
    assert_eq!(of(scope(json!({ "confirmation": "decision" })), json!({})), "");
    assert_eq!(of(json!({ "undo_window_s": 30 }), json!({ "requires_confirmation": true })), "");
}

/// AAP-14.1-06
#[test]
fn scopes_that_promise_different_windows_for_one_route_are_refused() {
    let of = |windows: [Value; 2], with: Value| {
        let scope = |(place, window): (usize, Value)| {
            let id = ["pay.small", "pay.large"][place];
            json!({
                "id": id, "description": "Send money", "allows": ["transfers.send"],
                "intent_types": ["PAY"], "undo_window_s": window,
            })
        };
        let scopes: Vec<Value> = windows.into_iter().enumerate().map(scope).collect();
        let document = document(json!({ "scopes": scopes, "routes": [route(with)] }));
        check(&document).iter().map(|problem| format!("{problem}\n")).collect::<String>()
    };
    let held = || json!({ "undo": { "by": "hold" } });
    let found = of([json!(5), json!(60)], held());
    assert!(
        found.contains("routes[0]: undo has different windows in the scopes pay.small (5 s) and pay.large (60 s)"),
        "{found:?}"
    );
    let found = of([json!(0), json!(60)], held());
    assert!(found.contains("undo has different windows"), "{found:?}");
    let found = of([json!(null), json!(60)], held());
    assert!(found.contains("pay.small (0 s)"), "{found:?}");
    assert_eq!(of([json!(60), json!(60)], held()), "");
    assert_eq!(of([json!(null), json!(60)], json!({ "undo": { "by": "hold" }, "scope": "pay.large" })), "");
}

/// AAP-14.1-06
#[test]
fn a_scope_has_a_window_only_with_a_route_that_can_be_undone() {
    let of = |scope: Value, with: Value| {
        let mut document = document(json!({ "routes": [route(with)] }));
        document.scopes[0].undo_window_s = scope["undo_window_s"].as_i64();
        document.scopes[0].irreversible = scope["irreversible"] == true;
        (scope_window_s(&document, &document.scopes[0]), route_window_s(&document, &document.routes[0]))
    };
    let held = || json!({ "undo": { "by": "hold" } });
    assert_eq!(of(json!({ "irreversible": true }), held()), (30, 30));
    assert_eq!(of(json!({ "irreversible": true }), json!({})), (0, 0));
    assert_eq!(of(json!({ "irreversible": true, "undo_window_s": 0 }), held()), (0, 0));
    assert_eq!(of(json!({ "undo_window_s": 5 }), held()), (5, 5));
    assert_eq!(of(json!({}), held()), (0, 0));
}

/// A plane with an approved call in its undo window.
fn held_call() -> (Plane, Decision) {
    let mut plane = Plane::new();
    let step = plane.raise(&Ask::of("file.move"), NOW).unwrap();
    let question = plane.commit(step).decision;
    let step = plane.answer(question.key, answer(ALICE, reply(YesNo::Accept), NOW), NOW).unwrap();
    let decision = plane.commit(step).decision;
    let queue = Queue { window_s: 30, mode: None, intent_type: None, consent: None };
    let step = plane.on_claim(decision.key, queue, NOW).unwrap();
    plane.commit(step);
    (plane, decision)
}

fn undo_by(plane: &Plane, decision: &Decision, by: UndoneBy, secs: i64) -> Result<(), Refusal> {
    plane.on_approval(decision.key, Undo { by }, NOW.plus_secs(secs)).map(drop)
}

/// AAP-14.1-05, R-5, R-21
#[test]
fn a_held_call_is_claimed_only_when_its_window_has_closed_and_by_nothing_else() {
    let (plane, decision) = held_call();
    let closed = || Claim { window_closed: true, ..claim(decision.digest) };
    let at = |claim, secs| plane.claim(decision.key, claim, true, NOW.plus_secs(secs));
    for (claim, secs) in [(claim(decision.digest), 0), (claim(decision.digest), 31), (closed(), 29)] {
        let refused = at(claim, secs).map(drop);
        assert!(matches!(&refused, Err(Refusal::Conflict(why)) if why.contains(&decision.id)), "{refused:?}");
    }
    let step = at(closed(), 30).unwrap();
    assert_eq!(step.effects.not_before, Some(NOW.plus_secs(30)), "by the store's clock");
    assert!(matches!(at(closed(), 30 + SEND_WITHIN_S).map(drop), Err(Refusal::ApprovalGone(_))), "late is never");
    let refused = plane.claim(decision.key, closed(), false, NOW.plus_secs(30)).map(drop);
    assert!(matches!(refused, Err(Refusal::ApprovalGone(_))), "{refused:?}");
}

/// AAP-14.1-08, R-21
#[test]
fn a_held_call_is_undone_by_its_session_or_an_entitled_person_and_only_before_its_window_closes() {
    let (mut plane, decision) = held_call();
    let own = || UndoneBy::Agent(decision.raised_by.clone());
    let others = UndoneBy::Agent(Raiser { session: Some(999), ..decision.raised_by.clone() });
    assert!(matches!(undo_by(&plane, &decision, others, 1), Err(Refusal::NotFound(_))));
    assert_eq!(undo_by(&plane, &decision, own(), 30), Err(Refusal::UndoWindowClosed(NOW.plus_secs(30))));
    assert_eq!(undo_by(&plane, &decision, UndoneBy::Person(Box::new(answerer(ADMIN, Assurance::Token))), 29), Ok(()));
    let step = plane.on_approval(decision.key, Undo { by: own() }, NOW.plus_secs(29)).unwrap();
    assert_eq!(step.effects.before, Some(NOW.plus_secs(30)), "by the store's clock");
    plane.commit(step);
    assert_eq!(undo_by(&plane, &decision, own(), 40), Ok(()), "a repeat gets the same answer");
    let closed = Claim { window_closed: true, ..claim(decision.digest) };
    let refused = plane.claim(decision.key, closed, true, NOW.plus_secs(30)).map(drop);
    assert_eq!(refused, Err(Refusal::ApprovalGone("it was cancelled")));
}

///
#[test]
fn a_call_that_a_node_has_begun_to_send_is_sent_by_one_that_started_after_the_window_closed() {
    let (mut plane, decision) = held_call();
    let step = plane.on_queued(decision.key, QueueDue { serving_since: NOW }, NOW.plus_secs(30)).unwrap();
    plane.store.now = NOW.plus_secs(30);
    plane.commit(step);
    let begins = |secs| {
        let due = QueueDue { serving_since: NOW.plus_secs(32) };
        plane.on_queued(decision.key, due, NOW.plus_secs(secs)).unwrap().answer
    };
    assert!(!begins(32) && !begins(39), "another node may still be sending it");
    assert!(begins(40) && begins(29 + SEND_WITHIN_S) && !begins(30 + SEND_WITHIN_S));
}

///
#[test]
fn a_node_begins_to_send_a_held_call_only_if_it_was_in_service_when_the_window_closed() {
    let (plane, decision) = held_call();
    let begins = |since, secs| {
        let due = QueueDue { serving_since: NOW.plus_secs(since) };
        plane.on_queued(decision.key, due, NOW.plus_secs(secs)).unwrap().answer
    };
    assert!(!begins(0, 29) && begins(0, 30) && begins(30, 31));
    assert!(!begins(31, 31), "it fell due while this node was not running");
    assert!(begins(0, 29 + SEND_WITHIN_S) && !begins(0, 30 + SEND_WITHIN_S));
}

/// AAP-14.1-06
#[test]
fn a_request_that_undoes_a_call_is_checked_like_a_cancel_endpoint() {
    let of = |request: Value, with: Value| {
        let mut route = json!({ "undo": { "by": "upstream", "request": request } });
        route.as_object_mut().unwrap().extend(with.as_object().unwrap().clone());
        problems(json!({ "undo_window_s": 30 }), route)
    };
    let good = || json!({ "path": "/transfers/{response.id}/reversal" });
    assert_eq!(of(good(), json!({})), "");
    for (request, with, why) in [
        (json!({ "path": "/a", "method": "GET" }), json!({}), "undo.request.method must be POST, PUT, PATCH or DELETE"),
        (json!({ "path": "//elsewhere.test/{response.id}" }), json!({}), "undo.request.path"),
        (json!({ "path": "/a", "undone": { "statuses": [500] } }), json!({}), "undo.request.undone.statuses must be"),
        (good(), json!({ "writes": false }), "undo is for writes"),
        (good(), json!({ "cancel": { "path": "/cancel" } }), "undo and cancel would both undo a call"),
        (good(), json!({ "stream": "events" }), "undo is for calls with one response"),
    ] {
        let found = of(request.clone(), with);
        assert!(found.contains(why), "{request}: {found:?}");
    }
    let unknown = json!({ "by": "upstream", "request": good(), "path": "/a" });
    assert!(serde_json::from_value::<RouteUndo>(unknown).is_err());
    assert!(serde_json::from_value::<RouteUndo>(json!({ "by": "hold", "request": good() })).is_err());
}
