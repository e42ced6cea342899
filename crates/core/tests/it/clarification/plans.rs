//! Submitting a plan, unchanged and changed (W-11).

use super::{
    rules::{changed, complete, without},
    world::{World, fields, open},
};
use crate::decision_store::Outcome;
use countersign_core::{
    clarification::{resolve::Resolve, view},
    records::{ClarificationSession, GapState},
    refusal::Refusal,
    step::Operation as _,
};
use countersign_protocol::{
    clarification::{Message, SCHEMA, Status, limits::MAX_PLANS},
    mplp::MplpId,
};
use serde_json::{Value, json};

fn message(session: &ClarificationSession) -> Message {
    serde_json::from_value(session.message.clone()).unwrap()
}

fn named(session: &ClarificationSession, field: &str) -> String {
    session.open_gaps().find(|asked| asked.gap.field == field).unwrap().gap.id.clone()
}

///
#[test]
fn another_principals_submission_does_not_exist() {
    let mut world = World::new();
    let id = world.submit(without(&["target"])).id;
    let stranger = world.submitting(1, Some(&id), without(&["target"])).map(drop);
    assert!(matches!(stranger, Err(Refusal::NotFound(_))), "{stranger:?}");
    let stranger = world.submitting(1, Some(&id), without(&["region"])).map(drop);
    assert!(matches!(stranger, Err(Refusal::NotFound(_))), "{stranger:?}");
    let stranger = world.resolve_by(1, &id, "gap-001", "Staging", None).map(drop);
    assert!(matches!(stranger, Err(Refusal::NotFound(_))), "{stranger:?}");
    let stranger = world.confirming(1, &id).map(drop);
    assert!(matches!(stranger, Err(Refusal::NotFound(_))), "{stranger:?}");
}

///
#[test]
fn nothing_is_written_for_an_agent_whose_standing_has_changed_meanwhile() {
    let mut world = World::new();
    let id = world.submit(without(&["target"])).id;
    let ready = world.submit(Value::Object(complete())).id;
    let by = world.plane.raiser(0);
    let resolve = Resolve { by, gap_id: "gap-001".into(), answer: "Staging".into(), signed: None, asked: None };
    let late = [
        world.submitting(0, None, without(&["region"])).unwrap().effects,
        world.submitting(0, Some(&id), without(&["region"])).unwrap().effects,
        resolve.decide(&world.view(&id, 0), &world.plane.env(world.now())).unwrap().effects,
        world.confirming(0, &ready).unwrap().effects,
    ];
    for guard in world.plane.guards(0) {
        world.plane.store.standing.insert((guard.table, guard.key), guard.version + 1);
    }
    for late in late {
        assert_eq!(world.plane.store.commit(&late), Outcome::Stale);
    }
}

/// WWA-3-07, WWA-4-07, WWA-8-03
#[test]
fn a_single_warning_is_refused_and_confirmed_by_nobody() {
    let mut world = World::new();
    let session = world.submit(without(&["region"]));
    let said = message(&session);
    assert_eq!((said.status, said.blocking_gaps, said.warning_gaps), (Status::NeedsClarification, 0, 1));
    let refused = world.confirm(&session.id).unwrap();
    assert_eq!(refused, session, "nothing happens to it");
    assert!(world.audit(&session.id).get("attestation").is_none());
    assert!(world.audit(&session.id).get("accepted_plan").is_none());
    world.resolve(&session.id, "gap-001", "accept").unwrap();
    assert_eq!(message(&world.session(&session.id)).status, Status::ReadyToProceed);
    assert!(world.audit(&session.id).get("accepted_plan").is_none(), "a plan only after confirming");
    assert!(world.confirm(&session.id).unwrap().is_confirmed());
    world.prove(&session.id);
}

/// WWA-4-07, WWA-4-15, WWA-4-16, WWA-4-17
#[test]
fn a_complete_plan_is_ready_at_once() {
    let mut world = World::new();
    let session = world.submit(Value::Object(complete()));
    let said = message(&session);
    assert_eq!((said.status, said.gaps.len()), (Status::ReadyToProceed, 0));
    assert_eq!((said.accepted_gaps, said.blocking_gaps, said.warning_gaps), (0, 0, 0));
    assert_eq!(said.schema, SCHEMA);
    world.prove(&session.id);
}

/// WWA-2-04
#[test]
fn the_same_plan_gets_the_same_bytes_until_something_is_answered() {
    let mut world = World::new();
    let plan = without(&["target", "region"]);
    let first = world.submit(plan.clone());
    let told = view::check(&first, &world.key()).unwrap();
    for by_name in [true, false] {
        world.later(90_000);
        let id = by_name.then_some(&first.id);
        let step = world.submitting(0, id, plan.clone()).unwrap();
        assert!(step.effects.is_empty(), "nothing is written");
        assert_eq!(step.answer, first);
        let again = view::check(&step.answer, &world.key()).unwrap();
        assert_eq!(serde_json::to_vec(&again).unwrap(), serde_json::to_vec(&told).unwrap());
    }
    world.resolve(&first.id, "gap-001", "Staging").unwrap();
    let after = world.resubmit(&first.id, plan.clone()).unwrap();
    assert_eq!((open(&after), message(&after).accepted_gaps), (vec!["gap-002"], 1));
    world.resolve(&first.id, "gap-002", "eu").unwrap();
    let after = world.resubmit(&first.id, plan).unwrap();
    assert_eq!(message(&after).status, Status::ReadyToProceed);
}

/// WWA-2-04
#[test]
fn without_a_name_only_the_same_caller_with_the_same_plan_finds_its_session_again() {
    let mut world = World::new();
    let plan = without(&["target"]);
    let first = world.submit(plan.clone());
    assert_eq!(first.id.as_str().as_bytes()[14], b'4', "a UUID of version 4");
    assert_ne!(world.submit(without(&["region"])).id, first.id);
    let other = world.submitting(1, None, plan.clone()).unwrap();
    assert_ne!(world.commit(other).id, first.id);
    assert_eq!(world.submit(plan.clone()).id, first.id);
    world.later(3_600_000);
    let anew = world.submit(plan.clone());
    assert_ne!(anew.id, first.id, "its time is over");
    world.resolve(&anew.id, "gap-001", "Staging").unwrap();
    world.confirm(&anew.id).unwrap();
    assert_ne!(world.submit(plan).id, anew.id, "it is closed");
}

/// WWA-2-04, WWA-4-08
#[test]
fn a_changed_plan_is_asked_about_anew_under_new_numbers() {
    let mut world = World::new();
    let first = world.submit(without(&["target", "region"]));
    world.resolve(&first.id, "gap-002", "mars").unwrap();
    world.later(10);
    let second = world.resubmit(&first.id, without(&["target", "amount"])).unwrap();
    assert_eq!((open(&second), fields(&second)), (vec!["gap-003", "gap-004"], vec!["target", "amount"]));
    assert!(second.gaps[..2].iter().all(|asked| asked.state == GapState::Superseded));
    for old in ["gap-001", "gap-002"] {
        let refused = world.resolve(&first.id, old, "Staging").map(drop);
        assert!(matches!(refused, Err(Refusal::Conflict(_))), "{refused:?}");
    }
    let entry = world.last(&first.id);
    assert_eq!(entry["event"], "plan_changed");
    assert_eq!(entry["plan_digest"], format!("sha256:{}", second.plans[1].digest.hex()));
    assert_eq!(world.record(&first.id)["plan_digest"], format!("sha256:{}", first.plans[0].digest.hex()));
    world.prove(&first.id);
    // Back to the first plan: the numbering continues.
    let third = world.resubmit(&first.id, without(&["target", "region"])).unwrap();
    assert_eq!(open(&third), ["gap-005", "gap-006"]);
    world.prove(&first.id);
}

/// WWA-2-04
#[test]
fn an_answer_stays_where_the_changed_plan_raises_the_very_same_question() {
    let mut world = World::new();
    let id = world.submit(without(&["target", "note", "region"])).id;
    world.resolve(&id, "gap-001", "Staging").unwrap();
    let kept = world.resubmit(&id, without(&["target", "region", "amount"])).unwrap();
    assert_eq!((open(&kept), fields(&kept)), (vec!["gap-003", "gap-004"], vec!["region", "amount"]));
    assert_eq!(message(&kept).accepted_gaps, 1);
    let gone = world.resubmit(&id, without(&["region"])).unwrap();
    assert_eq!(fields(&gone), ["region"]);
    assert_eq!(message(&gone).accepted_gaps, 1, "what was answered was answered");
    world.resolve(&id, &named(&gone, "region"), "us").unwrap();
    let confirmed = world.confirm(&id).unwrap();
    let accepted = world.audit(&confirmed.id)["accepted_plan"].clone();
    assert_eq!(accepted, changed(Value::Object(complete()), json!({ "region": "us" })), "its own target counts");
    world.prove(&id);
}

/// WWA-2-04
#[test]
fn an_answer_that_was_put_aside_counts_again_where_its_question_comes_back() {
    let mut world = World::new();
    let id = world.submit(without(&["target"])).id;
    world.resolve(&id, "gap-001", "Staging").unwrap();
    world.resubmit(&id, Value::Object(complete())).unwrap();
    let back = world.resubmit(&id, without(&["target", "amount"])).unwrap();
    assert_eq!(fields(&back), ["amount"]);
    world.resolve(&id, &named(&back, "amount"), "7").unwrap();
    world.confirm(&id).unwrap();
    let accepted = world.audit(&id)["accepted_plan"].clone();
    assert_eq!(accepted, changed(Value::Object(complete()), json!({ "amount": 7 })));
    world.prove(&id);
}

/// A gap opened by an answer stays resolved as long as that answer applies.
#[test]
fn the_answer_to_a_follow_up_gap_stays_with_it() {
    let mut world = World::new();
    let id = world.submit(without(&["target"])).id;
    world.resolve(&id, "gap-001", "Production").unwrap();
    world.resolve(&id, "gap-002", "at night").unwrap();
    let kept = world.resubmit(&id, without(&["target", "amount"])).unwrap();
    assert_eq!(fields(&kept), ["amount"]);
    world.resolve(&id, "gap-003", "7").unwrap();
    world.confirm(&id).unwrap();
    let answers = json!({ "target": "Production", "window": "at night", "amount": 7 });
    assert_eq!(world.audit(&id)["accepted_plan"], changed(Value::Object(complete()), answers));
    world.prove(&id);
}

///
#[test]
fn an_agents_own_answer_does_not_stay_where_the_changed_plan_makes_it_a_persons_to_give() {
    let mut world = World::new();
    let id = world.submit(without(&["target"])).id;
    world.resolve(&id, "gap-001", "Production").unwrap();
    let plan = changed(without(&["target"]), json!({ "actions": { "one": { "tool": "money.pay" } } }));
    let session = world.resubmit(&id, plan).unwrap();
    assert_eq!(fields(&session), ["target"], "it is asked again, and a person owes the answer");
    assert!(session.open_gaps().all(|asked| asked.gap.person_must_answer));
    world.prove(&id);
}

///
#[test]
fn a_persons_answer_stays_when_the_plan_changes() {
    let mut world = World::new();
    let id = world.submit(without(&["owner"])).id;
    world.resolve(&id, "gap-001", "me").unwrap();
    let question = world.question(&id, "gap-001").unwrap();
    world.person(question.key, "the night shift").unwrap();
    let plan = changed(without(&["owner"]), json!({ "actions": { "one": { "tool": "money.pay" } } }));
    assert_eq!(fields(&world.resubmit(&id, plan).unwrap()), Vec::<&str>::new());
    world.prove(&id);
}

#[test]
fn a_session_is_about_32_plans_at_most() {
    let mut world = World::new();
    let id = world.submit(changed(without(&["target"]), json!({ "n": 0 }))).id;
    for n in 1..MAX_PLANS {
        world.resubmit(&id, changed(without(&["target"]), json!({ "n": n }))).unwrap();
    }
    let before = world.session(&id);
    let refused = world.resubmit(&id, changed(without(&["target"]), json!({ "n": MAX_PLANS })));
    assert!(matches!(refused, Err(Refusal::Conflict(_))), "{refused:?}");
    assert_eq!(world.session(&id), before);
    assert_eq!(open(&before), [format!("gap-0{MAX_PLANS}")]);
    world.resolve(&id, "gap-032", "Staging").unwrap();
    assert!(world.confirm(&id).unwrap().is_confirmed(), "it can be ended");
    world.prove(&id);
}

#[test]
fn nothing_more_is_written_into_a_chain_of_10_000_entries() {
    let mut world = World::new();
    let id = world.submit(without(&["target", "region"])).id;
    let full = ClarificationSession { entries: 9_999, ..world.session(&id) };
    world.overwrite(full);
    world.resolve(&id, "gap-001", "Staging").unwrap();
    assert_eq!(world.entries(&id).pop().unwrap().position, 10_000);
    let before = world.session(&id);
    let refused = world.resolve(&id, "gap-002", "eu").map(drop);
    assert!(matches!(refused, Err(Refusal::Conflict(_))), "{refused:?}");
    let refused = world.resubmit(&id, without(&["amount"]));
    assert!(matches!(refused, Err(Refusal::Conflict(_))), "{refused:?}");
    assert_eq!(world.session(&id), before);
}

#[test]
fn a_plan_with_more_gaps_than_a_message_carries_is_refused_and_opens_nothing() {
    let mut world = World::new();
    let rule = super::rules::rule("each", json!({ "kind": "required", "field": "many[*].name" }));
    world.apply(|document| document.clarification.rules.push(serde_json::from_value(rule).unwrap()));
    let many = |count: usize| changed(Value::Object(complete()), json!({ "many": vec![json!({}); count] }));
    let refused = world.submitting(0, None, many(65)).map(drop);
    assert!(matches!(refused, Err(Refusal::InvalidRequest(_))), "{refused:?}");
    let session = world.submit(many(64));
    assert_eq!(open(&session).len(), 64);
    world.prove(&session.id);
}

/// WWA-4-08
#[test]
fn numbers_have_three_digits_and_more_where_they_are_needed() {
    let mut world = World::new();
    let rule = super::rules::rule("each", json!({ "kind": "required", "field": "many[*].name" }));
    world.apply(|document| document.clarification.rules.push(serde_json::from_value(rule).unwrap()));
    let many = |n: usize| changed(Value::Object(complete()), json!({ "n": n, "many": vec![json!({}); 64] }));
    let id: MplpId = world.submit(many(0)).id;
    for n in 1..16 {
        world.resubmit(&id, many(n)).unwrap();
    }
    let session = world.session(&id);
    assert_eq!((session.gaps[0].gap.id.as_str(), session.gaps[1023].gap.id.as_str()), ("gap-001", "gap-1024"));
    world.prove(&id);
}

/// Of two changed plans submitted at once, one is stale and must be decided again.
#[test]
fn two_plans_at_once_make_one_chain() {
    let mut world = World::new();
    let id = world.submit(without(&["target"])).id;
    let left = world.submitting(0, Some(&id), without(&["region"])).unwrap();
    let right = world.submitting(0, Some(&id), without(&["amount"])).unwrap();
    world.commit(left);
    assert!(world.try_commit(right).is_err());
    assert_eq!(world.session(&id).plans.len(), 2);
    world.prove(&id);
    let left = world.submitting(0, None, without(&["urgent"])).unwrap();
    let right = world.submitting(0, None, without(&["urgent"])).unwrap();
    world.commit(left);
    assert!(world.try_commit(right).is_err(), "one session of an id");
}
