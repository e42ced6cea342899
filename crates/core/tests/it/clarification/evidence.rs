//! Evidence entries about a session: their open members and their commitments.

use super::{
    rules::{rule, without},
    world::World,
};
use countersign_core::{evidence::opened, step::EvidenceDraft};
use serde_json::{Map, Value, json};

/// Clarification entries after the first `count` entries, with their event types and open members.
fn since(world: &World, count: usize) -> Vec<(&'static str, Map<String, Value>)> {
    let all = world.plane.store.evidence.iter().skip(count);
    let about = all.filter(|draft| draft.event_type.starts_with("clarification"));
    about.map(|draft| (draft.event_type, open_members(draft))).collect()
}

fn open_members(draft: &EvidenceDraft) -> Map<String, Value> {
    serde_json::from_slice(&draft.leaf.bytes).unwrap()
}

fn whole(draft: &EvidenceDraft) -> Map<String, Value> {
    opened(&draft.leaf).unwrap()
}

/// A full session lifecycle, with the expected entries after each step.
#[test]
fn every_check_round_confirmation_and_expiry_leaves_an_entry() {
    let mut world = World::new();
    let mut seen = 0;
    let mut left = |world: &World, expected: &[&str]| {
        let entries = since(world, seen);
        seen = world.plane.store.evidence.len();
        assert_eq!(entries.iter().map(|(what, _)| *what).collect::<Vec<_>>(), expected);
        entries
    };
    let id = world.submit(without(&["target", "region"])).id;
    let entries = left(&world, &["clarification_opened", "clarification_checked"]);
    assert_eq!((&entries[1].1["open_gaps"], &entries[1].1["submission"]), (&json!(2), &json!(1)));
    world.resolve(&id, "gap-002", "mars").unwrap();
    let entries = left(&world, &["clarification_answered"]);
    assert_eq!((&entries[0].1["resolved"], &entries[0].1["round"]), (&json!(false), &json!(1)));
    assert_eq!((&entries[0].1["given_by"], &entries[0].1["attested"]), (&json!("own"), &json!(false)));
    let question = world.question(&id, "gap-002").unwrap();
    world.person(question.key, "us").unwrap();
    let entries = left(&world, &["clarification_answered"]);
    assert_eq!((&entries[0].1["given_by"], &entries[0].1["decision_id"]), (&json!("person"), &json!(question.id)));
    world.resolve(&id, "gap-001", "Staging").unwrap();
    left(&world, &["clarification_answered"]);
    world.resolve(&id, "gap-001", "Staging").unwrap();
    left(&world, &[]);
    world.resubmit(&id, without(&["amount"])).unwrap();
    let entries = left(&world, &["clarification_checked"]);
    assert_eq!((&entries[0].1["open_gaps"], &entries[0].1["submission"]), (&json!(1), &json!(2)));
    world.resolve(&id, "gap-003", "7").unwrap();
    left(&world, &["clarification_answered"]);
    let stricter = rule("purpose", json!({ "kind": "required", "field": "purpose" }));
    world.apply(|document| document.clarification.rules.push(serde_json::from_value(stricter).unwrap()));
    world.confirm(&id).unwrap();
    let entries = left(&world, &["clarification_checked"]);
    assert_eq!(entries[0].1["open_gaps"], 1);
    world.resolve(&id, "gap-004", "to see").unwrap();
    left(&world, &["clarification_answered"]);
    let confirmed = world.confirm(&id).unwrap();
    let entries = left(&world, &["clarification_confirmed"]);
    assert_eq!(entries[0].1["chain_head"], confirmed.head.hex());
    world.confirm(&id).unwrap();
    left(&world, &[]);
    let other = world.submit(without(&["target"])).id;
    left(&world, &["clarification_opened", "clarification_checked"]);
    world.later(3_600_000);
    world.expire(&other);
    let entries = left(&world, &["clarification_expired"]);
    assert_eq!((&entries[0].1["open_gaps"], &entries[0].1["clarification_session_id"]), (&json!(2), &json!(other)));
}

/// answers of agents and people, and the content of the plan, appear only as commitments.
#[test]
fn nobodys_words_stand_in_the_open_part_of_an_entry() {
    let mut world = World::new();
    let secret = ["xyzzy-agent", "xyzzy-person", "xyzzy-plan"];
    let mut plan = without(&["owner"]);
    plan["extra"] = json!(secret[2]);
    let id = world.submit(plan).id;
    world.resolve(&id, "gap-001", secret[0]).unwrap();
    let question = world.question(&id, "gap-001").unwrap();
    world.person(question.key, secret[1]).unwrap();
    let session = world.confirm(&id).unwrap();
    let digest = session.plans[0].digest.hex();
    for draft in world.plane.store.evidence.iter().filter(|draft| draft.event_type.starts_with("clarification")) {
        let text = String::from_utf8(draft.leaf.bytes.clone()).unwrap();
        let hidden = secret.into_iter().chain([digest.as_str(), "what is", "owner"]);
        for word in hidden {
            assert!(!text.contains(word), "{} says {word}", draft.event_type);
        }
    }
    let answers: Vec<Map<String, Value>> = world
        .plane
        .store
        .evidence
        .iter()
        .filter(|draft| draft.event_type == "clarification_answered")
        .map(|draft| whole(draft))
        .collect();
    assert_eq!((&answers[0]["answer"], &answers[0]["field"]), (&json!(secret[0]), &json!("owner")));
    assert!(answers[0].contains_key("refused_because") && !answers[0].contains_key("accepted_answer"));
    assert_eq!((&answers[1]["answer"], &answers[1]["accepted_answer"]), (&json!(secret[1]), &json!(secret[1])));
    assert!(answers.iter().all(|entry| entry["question"].as_str().unwrap().contains("owner")));
}

/// the evidence log records the head of the chain, so holding the signing keys is not enough to change the chain.
#[test]
fn every_round_leaves_the_head_of_its_chain_in_the_evidence() {
    let mut world = World::new();
    let id = world.submit(without(&["target", "region"])).id;
    world.resolve(&id, "gap-002", "mars").unwrap();
    world.resolve(&id, "gap-001", "Staging").unwrap();
    let logged: Vec<Value> = since(&world, 0)
        .into_iter()
        .filter(|(what, _)| *what == "clarification_answered")
        .map(|(_, entry)| entry["chain_head"].clone())
        .collect();
    let heads: Vec<Value> = world
        .chain(&id)
        .iter()
        .map(|entry| json!(entry["entry_hash"].as_str().unwrap().strip_prefix("sha256:").unwrap()))
        .collect();
    assert_eq!(logged, heads);
}
