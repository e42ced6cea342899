//! Key rotation while a session is open (W-20).

use super::{
    rules::{KNOWN, changed, complete, without},
    world::{World, helper},
};
use countersign_core::{clarification::view, refusal::Refusal};
use countersign_jose::clarification::{AgentKey, Flaw, check_handoff, check_record};
use serde_json::{Value, json};

const DAY: i64 = 86_400_000;

fn events(world: &World, id: &countersign_protocol::mplp::MplpId) -> Vec<String> {
    let name = |entry: &Value| entry.get("event").map_or("round", |event| event.as_str().unwrap()).to_owned();
    world.chain(id).iter().map(name).collect()
}

/// WWA-7-17
#[test]
fn a_key_that_nothing_leads_to_signs_nothing() {
    let mut world = World::new();
    let id = world.submit(without(&["target"])).id;
    let stranger = AgentKey::from_seed([9; 32]);
    let mut view = world.view(&id, 0);
    view.key.public_key = stranger.public_key();
    view.key.signs = std::sync::Arc::new(move |input| stranger.sign(input));
    use countersign_core::{clarification::resolve::Resolve, step::Operation as _};
    let by = world.plane.raiser(0);
    let resolve = Resolve { by, gap_id: "gap-001".into(), answer: "Staging".into(), signed: None, asked: None };
    let refused = resolve.decide(&view, &world.plane.env(world.now())).map(drop);
    assert!(matches!(refused, Err(Refusal::Internal)), "{refused:?}");
}

/// WWA-7-17: a step signed by the old key cannot be committed after the rotation.
#[test]
fn a_step_that_the_old_key_signed_is_stale_once_another_is_in_force() {
    let mut world = World::new();
    let id = world.submit(without(&["target"])).id;
    let late = world.submitting(0, Some(&id), without(&["region"])).unwrap();
    let new = world.submitting(0, None, without(&["amount"])).unwrap();
    world.rotate();
    assert!(world.try_commit(late).is_err());
    assert!(world.try_commit(new).is_err());
    world.prove(&id);
}

/// WWA-7-03, WWA-7-10, WWA-7-17
#[test]
fn a_rotation_is_an_entry_that_takes_no_round() {
    let mut world = World::new();
    let id = world.submit(without(&["target", "region"])).id;
    world.resolve(&id, "gap-001", "Staging").unwrap();
    let old = world.key().public_key;
    world.later(5);
    world.rotate();
    world.prove(&id);
    world.later(5);
    world.resolve(&id, "gap-002", "eu").unwrap();
    assert_eq!(events(&world, &id), ["round", "key_rotated", "round"]);
    let chain = world.chain(&id);
    assert_eq!((&chain[0]["round"], &chain[2]["round"]), (&json!(1), &json!(2)));
    assert_eq!(chain[0]["agent_public_key"], json!(old));
    assert_eq!(chain[1]["rotation"]["old_public_key"], json!(old));
    for named in [&chain[1]["rotation"]["new_public_key"], &chain[2]["agent_public_key"]] {
        assert_eq!(*named, json!(world.key().public_key));
    }
    assert_eq!(world.record(&id)["total_rounds"], 2);
    world.prove(&id);
}

/// WWA-2-04, WWA-7-17
#[test]
fn after_a_rotation_a_check_is_signed_anew_once_and_asks_the_same() {
    let mut world = World::new();
    let plan = without(&["target"]);
    let before = world.submit(plan.clone());
    world.rotate();
    let after = world.submit(plan.clone());
    assert_eq!(after.gaps, before.gaps);
    assert_ne!(after.message, before.message);
    assert_eq!(after.message["agent_public_key"], json!(world.key().public_key));
    assert_eq!(world.submit(plan), after);
    assert_eq!(events(&world, &after.id), ["key_rotated"]);
    world.prove(&after.id);
}

/// WWA-7-17
#[test]
fn several_rotations_in_a_row_are_all_announced() {
    let mut world = World::new();
    let id = world.submit(without(&["target", "region"])).id;
    for _ in 0..3 {
        world.later(1000);
        world.rotate();
    }
    world.resolve(&id, "gap-001", "Staging").unwrap();
    world.rotate();
    world.rotate();
    world.resubmit(&id, without(&["target", "amount"])).unwrap();
    assert_eq!(events(&world, &id)[..4], ["key_rotated", "key_rotated", "key_rotated", "round"]);
    assert_eq!(events(&world, &id)[4..], ["key_rotated", "key_rotated", "plan_changed"]);
    world.prove(&id);
}

/// WWA-7-17: a chain without entries for days verifies like any other.
#[test]
fn rotations_that_are_long_past_when_a_session_goes_on_still_prove() {
    let mut world = World::with(|document| document.clarification.session_seconds = 30 * 86_400);
    let id = world.submit(without(&["target", "region"])).id;
    world.later(1000);
    world.resolve(&id, "gap-002", "mars").unwrap();
    for _ in 0..2 {
        world.later(1000);
        world.rotate();
    }
    world.later(3 * DAY);
    world.rotate();
    world.later(5 * DAY);
    world.resolve(&id, "gap-001", "Staging").unwrap();
    world.prove(&id);
    world.later(5 * DAY);
    world.resolve(&id, "gap-002", "eu").unwrap();
    world.confirm(&id).unwrap();
    world.prove(&id);
}

/// WWA-7-06: another node may have rotated the key with a clock slightly ahead of ours.
#[test]
fn a_rotation_that_is_ahead_of_our_clock_does_not_break_the_chain() {
    let mut world = World::new();
    let id = world.submit(without(&["target", "region"])).id;
    world.rotate_at(world.now().plus_millis(400));
    world.resolve(&id, "gap-001", "Staging").unwrap();
    world.prove(&id);
    world.later(1);
    world.resolve(&id, "gap-002", "eu").unwrap();
    world.prove(&id);
}

/// WWA-7-17
#[test]
fn the_old_key_counts_for_a_day_more_and_then_no_longer() {
    let mut world = World::with(|document| document.clarification.session_seconds = 30 * 86_400);
    let id = world.submit(without(&["target"])).id;
    world.resolve(&id, "gap-001", "Staging").unwrap();
    let old = world.record(&id);
    world.rotate();
    assert!(check_record(&old, &world.registry()).is_ok(), "what it signed before stays proven");
    let mut rotated = world.registry();
    world.later(2 * DAY);
    world.submit(without(&["target"]));
    // Forgery: the old key's record, re-dated to two days after the rotation.
    let mut forged = old;
    forged["signed_at"] = json!(world.now().to_rfc3339());
    let wrong = check_record(&forged, &rotated).unwrap_err();
    assert!(matches!(wrong.flaw, Flaw::KeyRetired { .. }), "{wrong}");
    rotated = world.registry();
    assert!(check_record(&world.record(&id), &rotated).is_ok());
}

/// WWA-6.2-04, WWA-7-17
#[test]
fn an_answer_that_was_signed_to_the_question_of_the_old_key_must_be_signed_anew() {
    let mut world = World::new();
    let id = world.submit(without(&["target"])).id;
    world.later(1000);
    let at = world.now().to_rfc3339();
    let signed = world.signs(&id, "gap-001", "Staging", &at, (KNOWN, &helper()));
    world.rotate();
    let refused = world.resolve_by(0, &id, "gap-001", "Staging", Some(signed)).map(drop);
    assert!(matches!(refused, Err(Refusal::InvalidRequest(_))), "{refused:?}");
    world.prove(&id);
    let signed = world.signs(&id, "gap-001", "Staging", &at, (KNOWN, &helper()));
    world.resolve_by(0, &id, "gap-001", "Staging", Some(signed)).unwrap();
    world.prove(&id);
}

/// WWA-7-17
#[test]
fn a_confirmed_session_is_left_as_the_old_key_signed_it() {
    let mut world = World::new();
    let id = world.submit(Value::Object(complete())).id;
    let confirmed = world.confirm(&id).unwrap();
    world.rotate();
    assert_eq!(world.resubmit(&id, Value::Object(complete())).unwrap(), confirmed);
    assert_eq!(world.confirm(&id).unwrap(), confirmed);
    world.prove(&id);
}

#[test]
fn a_handoff_proves_before_and_after_confirming_and_across_a_rotation() {
    let mut world = World::new();
    let id = world.submit(without(&["target"])).id;
    world.resolve(&id, "gap-001", "Staging").unwrap();
    world.rotate();
    world.bring_up(&id);
    for confirmed in [false, true] {
        let handoff = view::handoff(&world.session(&id), &world.entries(&id), &world.key(), world.now()).unwrap();
        let handoff = serde_json::to_value(handoff).unwrap();
        check_handoff(&handoff, &world.registry()).unwrap();
        let plan = changed(Value::Object(complete()), json!({ "target": "Staging" }));
        assert_eq!(handoff.get("plan"), confirmed.then_some(&plan));
        world.confirm(&id).unwrap();
    }
}
