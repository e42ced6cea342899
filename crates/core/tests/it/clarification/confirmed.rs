//! The end of a session: confirmed, closed, or expired (W-16, W-27).

use super::{
    rules::{changed, complete, rule, without},
    world::{World, fields, open},
};
use countersign_core::{
    clarification::{stops, view},
    records::{ClarificationState, GapState},
    refusal::Refusal,
};
use countersign_jose::clarification::check_attestation;
use countersign_protocol::clarification::{
    AnswerKind, GivenBy, Operation, limits::MAX_ENTRIES, signed::plan_digest, submission::SessionState,
};
use serde_json::{Value, json};

/// WWA-5-04, WWA-8-03
#[test]
fn nothing_is_confirmed_while_a_gap_is_open() {
    for field in ["target", "region", "owner"] {
        let mut world = World::new();
        let session = world.submit(without(&[field]));
        let step = world.confirming(0, &session.id).unwrap();
        assert!(step.effects.is_empty());
        assert_eq!(step.answer, session);
        world.resolve(&session.id, "gap-001", "").unwrap();
        let refused = world.confirm(&session.id).unwrap();
        assert!(!refused.is_confirmed() && open(&refused) == ["gap-001"]);
        assert!(world.audit(&session.id).get("attestation").is_none());
    }
}

/// WWA-5-04, WWA-8-03
#[test]
fn confirming_yields_the_plan_and_an_attestation_over_exactly_this_chain() {
    let mut world = World::new();
    let id = world.submit(without(&["target", "region"])).id;
    world.resolve(&id, "gap-001", "staging").unwrap();
    world.resolve(&id, "gap-002", "accept").unwrap();
    world.later(40);
    let confirmed = world.confirm(&id).unwrap();
    let ClarificationState::Confirmed { at, accepted, attestation } = &confirmed.state else { panic!("not confirmed") };
    assert_eq!(*at, world.now());
    assert_eq!(
        *accepted,
        changed(without(&["region"]), json!({ "target": "Staging" })),
        "an accepted WARN stays as it is"
    );
    assert_eq!(attestation["plan_digest"], format!("sha256:{}", plan_digest(accepted).unwrap().hex()));
    assert_eq!(attestation["clarification"]["rounds"], 2);
    assert_eq!(attestation["clarification"]["head"], format!("sha256:{}", confirmed.head.hex()));
    check_attestation(attestation, &world.registry()).unwrap();
    world.prove(&id);
    assert_eq!(confirmed.same, world.same(0, &plan_digest(accepted).unwrap()), "found by what was accepted");
}

/// WWA-1-04
#[test]
fn an_accepted_plan_has_only_submitted_and_answered_parts() {
    let mut world = World::new();
    let rules = json!([
        rule(
            "deep",
            json!({
                "kind": "input", "field": "target", "equals": ["Staging"], "needs": ["made.for.this"], "severity": "WARN",
            })
        ),
        rule("each", json!({ "kind": "required", "field": "list[*].name" })),
    ]);
    world.apply(|document| document.clarification.rules.extend(serde_json::from_value::<Vec<_>>(rules).unwrap()));
    let submitted = json!({ "note": "", "extra": { "a": [1, null, { "b": 0.5 }] }, "list": [{ "name": "x" }, {}] });
    let plan = changed(without(&["target", "note"]), submitted.clone());
    let session = world.submit(plan.clone());
    assert_eq!(fields(&session), ["target", "list[1].name"]);
    let id = session.id;
    world.resolve(&id, "gap-001", "Staging").unwrap();
    world.resolve(&id, "gap-002", "y/~z").unwrap();
    world.resolve(&id, "gap-003", "accept").unwrap();
    world.confirm(&id).unwrap();
    let mut expected = plan;
    expected["target"] = json!("Staging");
    expected["list"][1]["name"] = json!("y/~z");
    assert_eq!(world.audit(&id)["accepted_plan"], expected);
    world.prove(&id);
}

/// WWA-1-04: numbers and booleans are written as such.
#[test]
fn an_answer_is_written_as_the_kind_that_its_rule_says() {
    let mut world = World::new();
    let id = world.submit(without(&["amount", "urgent"])).id;
    world.resolve(&id, "gap-001", " 12.50").unwrap();
    world.resolve(&id, "gap-002", "TRUE").unwrap();
    world.confirm(&id).unwrap();
    let answers = json!({ "amount": 12.5, "urgent": true });
    assert_eq!(world.audit(&id)["accepted_plan"], changed(Value::Object(complete()), answers));
    world.prove(&id);
}

/// WWA-1-04: of two answers for one field the later one wins, for us and for a verifier.
#[test]
fn where_two_gaps_are_about_one_place_the_later_answer_stands() {
    for first in ["gap-001", "gap-003"] {
        let mut world = World::new();
        let rules = json!([
            rule(
                "pace",
                json!({
                    "kind": "required", "field": "pace", "when": [{ "field": "target", "present": false }],
                })
            ),
            rule("pace-again", json!({ "kind": "required", "field": "pace", "severity": "WARN" })),
            rule("target", json!({ "kind": "required", "field": "target" })),
        ]);
        world.apply(|document| document.clarification.rules = serde_json::from_value(rules).unwrap());
        let id = world.submit(json!({})).id;
        let both = world.resolve(&id, "gap-002", "x").unwrap().session;
        assert_eq!((open(&both), fields(&both)), (vec!["gap-001", "gap-003"], vec!["pace", "pace"]));
        let second = if first == "gap-001" { "gap-003" } else { "gap-001" };
        world.resolve(&id, first, "slow").unwrap();
        world.resolve(&id, second, "fast").unwrap();
        world.confirm(&id).unwrap();
        assert_eq!(world.audit(&id)["accepted_plan"], json!({ "target": "x", "pace": "fast" }));
        world.prove(&id);
    }
}

/// WWA-1-04: an answer never overwrites another one.
#[test]
fn an_answer_that_would_swallow_another_is_refused() {
    for (first, second) in [(("gap-001", "rtl"), ("gap-002", "plain")), (("gap-002", "plain"), ("gap-001", "rtl"))] {
        let mut world = World::new();
        let rules = json!([
            rule(
                "layout",
                json!({
                    "kind": "layout", "field": "languages", "languages": ["ar"], "layout_in": "ui.layout", "layout": "rtl",
                })
            ),
            rule("ui", json!({ "kind": "required", "field": "ui" })),
        ]);
        world.apply(|document| document.clarification.rules = serde_json::from_value(rules).unwrap());
        let session = world.submit(json!({ "languages": ["ar"] }));
        assert_eq!(fields(&session), ["ui.layout", "ui"]);
        let id = session.id;
        world.resolve(&id, first.0, first.1).unwrap();
        let before = (world.session(&id), world.chain(&id));
        let refused = world.resolve(&id, second.0, second.1).map(drop);
        assert!(matches!(refused, Err(Refusal::InvalidRequest(_))), "{refused:?}");
        assert_eq!((world.session(&id), world.chain(&id)), before);
        world.prove(&id);
    }
}

/// Confirmation runs the current rules again and reports new findings, even if they are only warnings.
#[test]
fn confirming_looks_again_under_the_rules_of_now() {
    for severity in ["BLOCK", "WARN"] {
        let mut world = World::new();
        let id = world.submit(without(&["target"])).id;
        world.resolve(&id, "gap-001", "Staging").unwrap();
        let stricter = rule("purpose", json!({ "kind": "required", "field": "purpose", "severity": severity }));
        world.apply(|document| document.clarification.rules.push(serde_json::from_value(stricter).unwrap()));
        let refused = world.confirm(&id).unwrap();
        assert!(!refused.is_confirmed());
        assert_eq!((open(&refused), fields(&refused)), (vec!["gap-002"], vec!["purpose"]));
        assert_eq!(world.session(&id), refused, "and that is written");
        world.prove(&id);
        world.resolve(&id, "gap-002", "to see").unwrap();
        assert!(world.confirm(&id).unwrap().is_confirmed());
        world.prove(&id);
    }
}

/// WWA-6.2-03
#[test]
fn a_confirmed_plan_is_closed_and_confirming_it_again_gives_the_same_answer() {
    let mut world = World::new();
    let id = world.submit(without(&["target"])).id;
    world.resolve(&id, "gap-001", "Staging").unwrap();
    let confirmed = world.confirm(&id).unwrap();
    world.later(99);
    let again = world.confirming(0, &id).unwrap();
    assert!(again.effects.is_empty());
    assert_eq!(again.answer, confirmed);
    let refused = world.resolve(&id, "gap-001", "Staging").map(drop);
    assert!(matches!(refused, Err(Refusal::Conflict(_))), "{refused:?}");
    let refused = world.resubmit(&id, without(&["region"]));
    assert!(matches!(refused, Err(Refusal::Conflict(_))), "{refused:?}");
    let same = world.resubmit(&id, without(&["target"])).unwrap();
    assert_eq!(same, confirmed);
    assert_eq!(view::status(&confirmed, world.now().plus_secs(9_999)).unwrap().state, SessionState::Confirmed);
}

#[test]
fn a_session_whose_time_is_over_takes_nothing_and_can_still_be_audited() {
    let mut world = World::new();
    let id = world.submit(without(&["target", "region"])).id;
    world.resolve(&id, "gap-001", "Staging").unwrap();
    world.later(3_599_999);
    world.resolve(&id, "gap-002", "mars").unwrap();
    world.later(1);
    let before = world.session(&id);
    for marked in [false, true] {
        let refused = [
            world.resolve(&id, "gap-002", "eu").map(drop),
            world.resolve(&id, "gap-001", "Staging").map(drop),
            world.resubmit(&id, without(&["target", "region"])).map(drop),
            world.resubmit(&id, without(&["region"])).map(drop),
            world.confirm(&id).map(drop),
        ];
        for refused in refused {
            assert!(matches!(refused, Err(Refusal::Conflict(_))), "{marked} {refused:?}");
        }
        assert_eq!(view::status(&world.session(&id), world.now()).unwrap().state, SessionState::Expired);
        world.prove(&id);
        world.expire(&id);
    }
    let after = world.session(&id);
    assert_eq!((&after.gaps, &after.message, after.head), (&before.gaps, &before.message, before.head));
    assert_eq!(after.state, ClarificationState::Expired);
}

#[test]
fn nothing_expires_early_or_twice_or_after_it_was_confirmed() {
    let mut world = World::new();
    let id = world.submit(Value::Object(complete())).id;
    let before = world.session(&id);
    world.later(3_599_999);
    world.expire(&id);
    assert_eq!(world.session(&id), before);
    let confirmed = world.confirm(&id).unwrap();
    world.later(1_000_000);
    world.expire(&id);
    assert_eq!(world.session(&id), confirmed);
    let other = world.submit(without(&["target"])).id;
    world.later(3_600_000);
    world.expire(&other);
    let over = world.session(&other);
    world.expire(&other);
    assert_eq!(world.session(&other), over);
}

/// The store's clock decides: a session that expired only by the node's clock stays open.
#[test]
fn expiry_counts_only_if_the_stores_clock_agrees() {
    use countersign_core::{clarification::expire::Expire, step::Operation as _};
    let mut world = World::new();
    let id = world.submit(without(&["target"])).id;
    let ahead = world.plane.env(world.now().plus_secs(3600));
    let early = Expire.decide(&(world.plane.place(), world.session(&id)), &ahead).unwrap();
    assert!(world.try_commit(early).is_err());
    assert!(world.session(&id).is_live(world.now()));
}

/// WWA-4-14
#[test]
fn an_open_block_stops_the_operations_that_it_names_and_a_warning_or_an_answer_does_not() {
    let mut world = World::new();
    world.apply(|document| {
        document.clarification.rules[0].blocked_operations = Some(vec![Operation::Planner, Operation::Attest]);
    });
    let id = world.submit(without(&["target", "region"])).id;
    let stopped = |world: &World, operation| {
        let refused = stops::check(&[world.session(&id)], &[operation], stops::StoppedAction::Asking, world.now());
        assert!(matches!(refused, Ok(()) | Err(Refusal::ClarificationRequired(_))));
        refused.is_err()
    };
    let all = |world: &World| Operation::ALL.map(|operation| stopped(world, operation));
    assert_eq!(all(&world), [true, false, false, true]);
    world.resolve(&id, "gap-001", "").unwrap();
    assert_eq!(all(&world), [true, false, false, true], "an answer that is none opens nothing");
    world.resolve(&id, "gap-001", "Staging").unwrap();
    assert_eq!(all(&world), [false; 4], "the open WARN stops no operation");
    world.resubmit(&id, without(&["amount"])).unwrap();
    assert_eq!(all(&world), [true, true, true, false], "planner, developer and build unless the rule says otherwise");
    world.later(3_600_000);
    assert_eq!(all(&world), [false; 4], "what is over stops nothing");
}

/// The answer kind of a rule survives storage.
#[test]
fn a_session_is_read_back_as_it_was_written() {
    let mut world = World::new();
    let id = world.submit(without(&["amount", "region", "owner"])).id;
    world.resolve(&id, "gap-001", "mars").unwrap();
    world.resolve(&id, "gap-002", "7").unwrap();
    world.resolve(&id, "gap-003", "me").unwrap();
    let session = world.session(&id);
    let kept = serde_json::from_str(&serde_json::to_string(&session).unwrap()).unwrap();
    assert_eq!(session, kept);
    let asked = session.gap("gap-002").unwrap();
    assert_eq!(asked.answer_kind, AnswerKind::Number);
    assert!(matches!(&asked.state, GapState::Resolved { given_by: GivenBy::Own, .. }));
    assert!(session.entries < MAX_ENTRIES as i64);
}
