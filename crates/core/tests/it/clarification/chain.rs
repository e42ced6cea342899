//! Any change to a recorded chain is detected (W-08, W-09).

use super::{rules::without, world::World};
use countersign_jose::clarification::{ChainSeal, Flaw, check_against, check_audit, check_record};
use countersign_protocol::mplp::MplpId;
use serde_json::{Value, json};

/// A chain with every kind of entry: rounds by an agent and by a person, a key rotation, a changed plan.
fn told() -> (World, MplpId) {
    let mut world = World::new();
    let id = world.submit(without(&["target", "owner"])).id;
    world.later(5);
    world.resolve(&id, "gap-002", "me").unwrap();
    let question = world.question(&id, "gap-002").unwrap();
    world.later(5);
    world.person(question.key, "the night shift").unwrap();
    world.rotate();
    world.later(5);
    world.resubmit(&id, without(&["target", "owner", "region"])).unwrap();
    world.later(5);
    world.resolve(&id, "gap-003", "Staging").unwrap();
    world.resolve(&id, "gap-004", "accept").unwrap();
    world.confirm(&id).unwrap();
    assert_eq!(world.chain(&id).len(), 6);
    (world, id)
}

/// JSON pointers of all scalar values.
fn leaves(value: &Value, place: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(name, below)| leaves(below, &format!("{place}/{name}"), found))
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(n, below)| leaves(below, &format!("{place}/{n}"), found))
        }
        _ => found.push(place.to_owned()),
    }
}

/// A different, plausible value of the same kind.
fn another(value: &Value) -> Value {
    match value {
        Value::Bool(flag) => json!(!flag),
        Value::Number(number) => json!(number.as_i64().unwrap() + 1),
        Value::String(text) if text.ends_with('Z') => json!(text.replace("2027", "2028")),
        Value::String(text) if text.ends_with('0') => json!(format!("{}1", text.strip_suffix('0').unwrap())),
        Value::String(text) if text.starts_with("sha256:") || text.starts_with("ed25519:") => {
            json!(format!("{}0", text.get(..text.len() - 1).unwrap()))
        }
        other => json!(format!("{} ", other.as_str().unwrap_or_default())),
    }
}

/// WWA-7-01, WWA-7-04, WWA-7-08, WWA-7-12
#[test]
fn a_value_that_is_changed_anywhere_in_a_chain_is_found_at_its_entry() {
    let (world, id) = told();
    let (record, registry) = (world.record(&id), world.registry());
    let mut places = Vec::new();
    leaves(&record["chain"], "", &mut places);
    assert!(places.len() > 100);
    for place in places {
        let mut changed = record.clone();
        let value = changed["chain"].pointer_mut(&place).unwrap();
        *value = another(value);
        let wrong = check_record(&changed, &registry).map(drop).unwrap_err();
        let entry: usize = place.split('/').nth(1).unwrap().parse().unwrap();
        assert!(wrong.place.starts_with(&format!("chain[{entry}]")), "{place}: {wrong}");
    }
}

/// WWA-7-01, WWA-7-12
#[test]
fn an_entry_that_is_left_out_or_moved_is_missed() {
    let (world, id) = told();
    let (record, registry) = (world.record(&id), world.registry());
    let chain = world.chain(&id);
    for at in 0..chain.len() {
        let mut dropped = record.clone();
        dropped["chain"].as_array_mut().unwrap().remove(at);
        assert!(check_record(&dropped, &registry).is_err(), "without {at}");
        let mut swapped = record.clone();
        swapped["chain"].as_array_mut().unwrap().swap(at, (at + 1) % chain.len());
        assert!(check_record(&swapped, &registry).is_err(), "{at} moved");
        let mut twice = record.clone();
        twice["chain"].as_array_mut().unwrap().insert(at, chain[at].clone());
        assert!(check_record(&twice, &registry).is_err(), "{at} twice");
    }
}

/// WWA-7-12
#[test]
fn a_truncated_chain_is_exposed_by_a_later_signature() {
    let mut world = World::new();
    let id = world.submit(without(&["target", "region"])).id;
    world.resolve(&id, "gap-001", "Staging").unwrap();
    let early = world.record(&id);
    world.resolve(&id, "gap-002", "eu").unwrap();
    let (late, registry) = (world.record(&id), world.registry());
    let kept = ChainSeal::of_record(&late, &registry).unwrap();
    assert!(check_record(&early, &registry).is_ok(), "by itself it is in order");
    let wrong = check_against(&early, &kept, &registry).map(drop).unwrap_err();
    assert!(matches!(wrong.flaw, Flaw::Truncated { kept: 2, found: 1 }), "{wrong}");
    let kept = ChainSeal::of_record(&early, &registry).unwrap();
    assert!(check_against(&late, &kept, &registry).is_ok(), "a chain that goes on is the same one");
}

/// WWA-7-01: the first link binds the session and its first plan.
#[test]
fn a_chain_belongs_to_its_session_and_its_first_plan() {
    let (mut world, id) = told();
    let other = world.submit(without(&["target"])).id;
    let registry = world.registry();
    for member in ["session_id", "plan_digest"] {
        let mut moved = world.record(&id);
        moved[member] = world.record(&other)[member].clone();
        let wrong = check_record(&moved, &registry).map(drop).unwrap_err();
        assert_eq!(wrong.flaw, Flaw::NotLinked);
    }
}

/// WWA-6.2-05
#[test]
fn a_chain_proves_ten_years_later() {
    let (mut world, id) = told();
    for _ in 0..10 {
        world.later(365 * 86_400_000);
        world.rotate();
    }
    world.prove(&id);
}

/// WWA-7-14, WWA-7-16: an audit export cannot be changed to claim other questions or answers.
#[test]
fn an_audit_in_which_anything_is_changed_is_refused() {
    let (world, id) = told();
    let (audit, registry) = (world.audit(&id), world.registry());
    let mut places = Vec::new();
    leaves(&audit, "", &mut places);
    for place in places {
        let mut changed = audit.clone();
        let value = changed.pointer_mut(&place).unwrap();
        *value = another(value);
        // Only a replacing plan has a signed submission time; the first plan's time must not lie after its questions.
        assert!(check_audit(&changed, &registry).is_err(), "{place}");
    }
}
