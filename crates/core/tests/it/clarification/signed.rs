//! Answers signed by the answering agent (W-06, W-07, W-18, W-19).

use super::{
    rules::{KNOWN, without},
    world::{World, helper},
};
use countersign_core::{
    clarification::{resolve::AnswerVerdict, view},
    refusal::Refusal,
};
use countersign_jose::clarification::AgentKey;
use countersign_protocol::{clarification::submission::OwnSignature, mplp::MplpId};
use serde_json::json;

const SECOND: i64 = 1000;

fn now(world: &World, plus_millis: i64) -> String {
    world.now().plus_millis(plus_millis).to_rfc3339()
}

/// A session with two gaps that were opened ten seconds ago.
fn asked() -> (World, MplpId) {
    let mut world = World::new();
    let id = world.submit(without(&["target", "region"])).id;
    world.later(10 * SECOND);
    (world, id)
}

/// The listed agent's answer to the first gap, with this timestamp.
fn by_helper(world: &World, id: &MplpId, at: &str) -> OwnSignature {
    world.signs(id, "gap-001", "Staging", at, (KNOWN, &helper()))
}

/// Asserts that the answer is refused and nothing changes.
#[track_caller]
fn refused(world: &mut World, id: &MplpId, gap: &str, said: &str, signed: OwnSignature) -> Refusal {
    let before = (world.session(id), world.chain(id));
    let refusal = world.resolve_by(0, id, gap, said, Some(signed)).map(drop).unwrap_err();
    assert_eq!((world.session(id), world.chain(id)), before);
    refusal
}

/// WWA-6.2-05
#[test]
fn an_answer_that_was_signed_more_than_a_minute_from_now_is_refused() {
    let (mut world, id) = asked();
    world.later(100 * SECOND);
    for (off, fits) in [(-60_001, false), (60_001, false), (-3_600_000, false), (-60_000, true)] {
        let signed = by_helper(&world, &id, &now(&world, off));
        match fits {
            false => {
                let why = refused(&mut world, &id, "gap-001", "Staging", signed);
                assert!(matches!(why, Refusal::InvalidRequest(_)), "{why:?}");
            }
            true => assert!(world.resolve_by(0, &id, "gap-001", "Staging", Some(signed)).unwrap().fresh),
        }
    }
    world.prove(&id);
    let (mut world, id) = asked();
    let signed = by_helper(&world, &id, &now(&world, 60_000));
    world.resolve_by(0, &id, "gap-001", "Staging", Some(signed)).unwrap();
    world.prove(&id);
}

/// WWA-7-06
#[test]
fn an_answer_that_was_signed_before_its_question_is_refused() {
    let (mut world, id) = asked();
    for early in [-10_001, -20_000] {
        let signed = by_helper(&world, &id, &now(&world, early));
        let why = refused(&mut world, &id, "gap-001", "Staging", signed);
        assert!(matches!(why, Refusal::InvalidRequest(_)), "{why:?}");
    }
    let just_before = format!("{}.999999999Z", world.now().plus_millis(-11_000).to_rfc3339().get(..19).unwrap());
    let signed = by_helper(&world, &id, &just_before);
    refused(&mut world, &id, "gap-001", "Staging", signed);
    let signed = by_helper(&world, &id, &now(&world, -10_000));
    world.resolve_by(0, &id, "gap-001", "Staging", Some(signed)).unwrap();
    world.prove(&id);
}

/// WWA-6.2-04
#[test]
fn a_signature_by_another_key_than_the_one_that_is_known_for_its_giver_is_refused() {
    let (mut world, id) = asked();
    let other = AgentKey::from_seed([78; 32]);
    let signed = world.signs(&id, "gap-001", "Staging", &now(&world, 0), (KNOWN, &other));
    let why = refused(&mut world, &id, "gap-001", "Staging", signed);
    assert!(matches!(why, Refusal::NotAuthorized(_)), "{why:?}");
    // A listed agent id, but signed with another key.
    let mut signed = world.signs(&id, "gap-001", "Staging", &now(&world, 0), (KNOWN, &other));
    signed.answered_by.public_key = helper().public_key();
    let why = refused(&mut world, &id, "gap-001", "Staging", signed);
    assert!(matches!(why, Refusal::InvalidRequest(_)), "{why:?}");
    // An agent without a listed key: its own public key is stored with the answer.
    let signed = world.signs(&id, "gap-001", "Staging", &now(&world, 0), ("somebody", &other));
    world.resolve_by(0, &id, "gap-001", "Staging", Some(signed)).unwrap();
    assert_eq!(world.last(&id)["answered_by"]["public_key"], json!(other.public_key()));
    world.prove(&id);
}

/// WWA-6.2-04, WWA-7-08
#[test]
fn a_signed_answer_cannot_be_moved() {
    let (mut world, id) = asked();
    let at = now(&world, 0);
    let signed = by_helper(&world, &id, &at);
    for (gap, said) in [("gap-002", "Staging"), ("gap-001", "Production"), ("gap-002", "eu")] {
        refused(&mut world, &id, gap, said, signed.clone());
    }
    let mut later = signed.clone();
    later.timestamp = now(&world, 1).parse().unwrap();
    refused(&mut world, &id, "gap-001", "Staging", later);
    let mut renamed = signed.clone();
    renamed.answered_by.agent_id = "somebody".into();
    refused(&mut world, &id, "gap-001", "Staging", renamed);
    // Replayed to another session with the same plan.
    let other = world.submitting(
        0,
        Some(&"0e3702f7-c676-4d5e-8f57-db1bb1a91f8c".parse().unwrap()),
        without(&["target", "region"]),
    );
    let other = world.commit(other.unwrap()).id;
    refused(&mut world, &other, "gap-001", "Staging", signed.clone());
    // Replayed to another round of the same gap.
    world.resolve(&id, "gap-002", "mars").unwrap();
    refused(&mut world, &id, "gap-001", "Staging", signed.clone());
    // Replayed after a changed plan with the same gap.
    world.resubmit(&id, without(&["target"])).unwrap();
    refused(&mut world, &id, "gap-003", "Staging", signed);
    world.prove(&id);
}

/// WWA-6.2-04, WWA-7-04, WWA-7-08
#[test]
fn a_signed_answer_is_kept_with_its_key_and_proves_for_good() {
    let (mut world, id) = asked();
    let before = world.session(&id);
    let told = view::check(&before, &world.key()).unwrap();
    let signed = by_helper(&world, &id, &now(&world, -3));
    let resolved = world.resolve_by(0, &id, "gap-001", "Staging", Some(signed.clone())).unwrap();
    assert_eq!(resolved.verdict, AnswerVerdict::Resolved { accepted: "Staging".into() });
    let round = world.last(&id);
    let by = json!({ "agent_id": KNOWN, "public_key": helper().public_key(), "attested": true });
    assert_eq!((&round["answered_by"], &round["given_by"]), (&by, &json!("own")));
    assert_eq!(round["answer_signature"], signed.signature.as_str());
    assert_eq!(round["answer_timestamp"], signed.timestamp.as_str());
    assert_eq!(round["ask_signature"], told.asks[0].ask_signature.as_str(), "it is the question as it was told");
    assert_eq!(round["ask_timestamp"], told.asks[0].ask_timestamp.as_str());
    world.prove(&id);
}

/// WWA-6.2-03
#[test]
fn repeated_with_its_signature_it_says_the_same() {
    let (mut world, id) = asked();
    let signed = by_helper(&world, &id, &now(&world, 0));
    let first = world.resolve_by(0, &id, "gap-001", "Staging", Some(signed.clone())).unwrap();
    let chain = world.chain(&id);
    world.later(300 * SECOND);
    let again = world.resolve_by(0, &id, "gap-001", "Staging", Some(signed)).unwrap();
    assert_eq!((again.verdict, again.fresh), (first.verdict, false));
    assert_eq!(world.chain(&id), chain);
}

/// WWA-6.2-06: a signed answer does not replace a person's answer.
#[test]
fn a_signed_answer_that_only_a_person_may_give_goes_to_that_person() {
    let mut world = World::new();
    let id = world.submit(without(&["owner"])).id;
    world.later(SECOND);
    let signed = world.signs(&id, "gap-001", "me", &now(&world, 0), (KNOWN, &helper()));
    let told = world.resolve_by(0, &id, "gap-001", "me", Some(signed)).unwrap();
    assert!(matches!(told.verdict, AnswerVerdict::Escalated { .. }));
    let round = world.last(&id);
    assert_eq!((&round["resolved"], &round["answered_by"]["attested"]), (&json!(false), &json!(true)));
    world.prove(&id);
}

/// WWA-7-06: an answer may be dated ahead of our clock, with finer precision.
#[test]
fn events_after_an_answer_from_the_future_are_not_dated_before_it() {
    for at in ["500000001", "5", "999999999", "000000001", "123000000", "1230000001"] {
        let (mut world, id) = asked();
        let ahead = format!("{}.{at}Z", world.now().plus_millis(20_000).to_rfc3339().get(..19).unwrap());
        let Ok(_) = ahead.parse::<countersign_protocol::clarification::Stamp>() else { continue };
        let signed = by_helper(&world, &id, &ahead);
        world.resolve_by(0, &id, "gap-001", "Staging", Some(signed)).unwrap();
        world.prove(&id);
        world.later(1);
        world.resolve(&id, "gap-002", "mars").unwrap();
        world.prove(&id);
        world.rotate();
        world.resolve(&id, "gap-002", "eu").unwrap();
        world.prove(&id);
        world.confirm(&id).unwrap();
        world.prove(&id);
    }
}

/// WWA-7-06
#[test]
fn answers_within_one_millisecond_stay_in_order() {
    let (mut world, id) = asked();
    let second = world.now().to_rfc3339().get(..19).unwrap().to_owned();
    let signed = by_helper(&world, &id, &format!("{second}.0000005Z"));
    world.resolve_by(0, &id, "gap-001", "Staging", Some(signed)).unwrap();
    let early = world.signs(&id, "gap-002", "eu", &format!("{second}.0000006Z"), (KNOWN, &helper()));
    refused(&mut world, &id, "gap-002", "eu", early);
    let signed = world.signs(&id, "gap-002", "eu", &format!("{second}.001Z"), (KNOWN, &helper()));
    world.resolve_by(0, &id, "gap-002", "eu", Some(signed)).unwrap();
    world.prove(&id);
}
