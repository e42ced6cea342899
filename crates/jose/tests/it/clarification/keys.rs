//! Attribution of signatures to agents and keys.

use super::support::{AGENT, Given, Session, eventful, eventful_registry, gap, key, plan, registry, stamp, value};
use countersign_jose::clarification::{AgentKey, Flaw, Registry, Signer, check_message, check_record};
use countersign_protocol::clarification::{PublishedKey, PublishedKeys, Severity};

fn asked() -> Session {
    let mut session = Session::begin(super::support::SESSION, key(1), plan());
    session.open.push(gap(1, "payee.account", Severity::Block));
    session
}

/// WWA-4-21
#[test]
fn a_message_signed_by_another_key_is_refused_where_the_agents_key_is_registered() {
    let message = value(&asked().message());
    let wrong = check_message(&message, &registry(&[&key(5)])).unwrap_err();
    assert_eq!(wrong.place, "agent_public_key");
    assert_eq!(wrong.flaw, Flaw::UnknownKey { agent_id: AGENT.into() });
}

/// WWA-4-21
#[test]
fn without_a_registered_key_a_message_is_proven_whole_and_its_author_is_not() {
    let message = value(&asked().message());
    let alone = check_message(&message, &Registry::default()).unwrap();
    assert_eq!(alone.signer, Signer::IntegrityOnly);
    assert!(alone.warnings[0].starts_with("integrity only"), "{:?}", alone.warnings);
    assert_eq!(check_message(&message, &registry(&[&key(1)])).unwrap().signer, Signer::Known);
    // A registered key of another agent does not identify this one.
    let stranger = Registry::default().with_key("somebody-else", key(1).public_key());
    assert_eq!(check_message(&message, &stranger).unwrap().signer, Signer::IntegrityOnly);
}

/// WWA-4-21
#[test]
fn a_chain_is_known_only_if_all_of_its_keys_are() {
    let record = value(&eventful().record());
    assert_eq!(check_record(&record, &eventful_registry()).unwrap().signer, Signer::Known);
    assert_eq!(check_record(&record, &Registry::default()).unwrap().signer, Signer::IntegrityOnly);
    let wrong = check_record(&record, &registry(&[&key(2)])).unwrap_err();
    assert_eq!(wrong.place, "chain[0].agent_public_key");
    let wrong = check_record(&record, &registry(&[&key(1)])).unwrap_err();
    assert_eq!(wrong.place, "chain[2].rotation.new_public_key");
}

/// WWA-4-21, WWA-7-08
#[test]
fn an_answer_signed_in_the_name_of_a_registered_agent_must_be_by_its_key() {
    let record = value(&eventful().record());
    let asking = registry(&[&key(1), &key(2)]);
    let report = check_record(&record, &asking).unwrap();
    assert!(report.warnings.iter().any(|warning| warning.contains("round 3") && warning.contains("caller-1")));
    assert!(check_record(&record, &eventful_registry()).unwrap().warnings.is_empty());
    let wrong = check_record(&record, &asking.with_key("caller-1", key(8).public_key())).unwrap_err();
    assert_eq!(wrong.place, "chain[3].answered_by.public_key");
}

/// WWA-7-17
#[test]
fn a_key_that_its_owner_retired_counts_for_a_day_more() {
    let mut session = asked();
    let published = |retired_at| {
        let key = PublishedKey { public_key: key(1).public_key(), created_at: stamp(-9), retired_at: Some(retired_at) };
        Registry::default().with(&PublishedKeys { agent_id: AGENT.into(), keys: vec![key], rotations: Vec::new() })
    };
    session.now = 86_400;
    let message = value(&session.message());
    assert!(check_message(&message, &published(stamp(0))).is_ok());
    let wrong = check_message(&message, &published(stamp(-1))).unwrap_err();
    assert_eq!(wrong.flaw, Flaw::KeyRetired { since: stamp(-1).to_string() });
}

/// WWA-7-08
#[test]
fn an_answer_unsigned_by_its_author_is_signed_by_the_asking_agent_and_nobody_else() {
    let mut session = asked();
    session.open.clear();
    session.round(&gap(1, "payee.account", Severity::Block), Given::own("one"));
    let sound = session.clone();
    let mut record = value(&sound.record());
    assert!(check_record(&record, &registry(&[&key(1)])).is_ok());
    // The answering agent's own signature, claimed as the asking agent's.
    let mut session = asked();
    session.open.clear();
    session.round(&gap(1, "payee.account", Severity::Block), Given::signed("one", AGENT, key(7)));
    record = value(&session.record());
    let wrong = check_record(&record, &registry(&[&key(1)])).unwrap_err();
    assert_eq!(wrong.place, "chain[0].answered_by.public_key");
}

#[test]
fn a_private_key_comes_back_from_its_seed_and_is_never_printed() {
    let key = key(3);
    assert_eq!(AgentKey::from_seed(*key.seed()).public_key(), key.public_key());
    assert!(!format!("{key:?}").contains("0303"));
    assert!(format!("{key:?}").contains(key.public_key().as_str()));
}
