//! Key rotation during a session.

use super::support::{AGENT, Given, Session, gap, key, plan, registry, resigned, rotation, value};
use countersign_jose::clarification::{Flaw, Registry, check_handoff, check_record};
use countersign_protocol::clarification::{Handoff, HandoffContext, Rotation, Severity};

const DAY: i64 = 86_400;

fn session() -> Session {
    let mut session = Session::begin(super::support::SESSION, key(1), plan());
    session.round(&gap(1, "payee.account", Severity::Block), Given::own("one"));
    session
}

fn both() -> Registry {
    registry(&[&key(1), &key(2), &key(3)])
}

/// WWA-7-03, WWA-7-10, WWA-7-17
#[test]
fn a_chain_goes_on_under_another_key_and_the_change_takes_no_round() {
    let mut session = session();
    session.rotate(key(2));
    session.rotate(key(3));
    session.round(&gap(2, "terms", Severity::Warn), Given::own("accept"));
    let record = value(&session.record());
    let report = check_record(&record, &both()).unwrap();
    assert_eq!(report.rounds.iter().map(|round| round.round).collect::<Vec<_>>(), [1, 2]);
    assert_eq!((record["total_rounds"].as_u64(), record["chain"].as_array().unwrap().len()), (Some(2), 4));
}

/// WWA-7-17
#[test]
fn a_new_key_that_the_old_one_does_not_vouch_for_is_refused() {
    for signer in [key(2), key(7)] {
        let mut session = session();
        let unsigned = rotation(&key(1), &key(2), session.now);
        session.enter_rotation(Rotation { signature: resigned(&signer, &unsigned), ..unsigned });
        session.key = key(2);
        let wrong = check_record(&value(&session.record()), &Registry::default()).unwrap_err();
        assert_eq!(wrong.place, "chain[1].rotation.signature");
    }
}

/// WWA-7-17
#[test]
fn a_new_key_without_any_rotation_is_refused() {
    let mut session = session();
    session.key = key(2);
    let wrong = check_record(&value(&session.record()), &both()).unwrap_err();
    assert_eq!((wrong.place.as_str(), wrong.flaw), ("agent_public_key", Flaw::AnotherKey));
    session.round(&gap(2, "terms", Severity::Warn), Given::own("accept"));
    let wrong = check_record(&value(&session.record()), &both()).unwrap_err();
    assert_eq!((wrong.place.as_str(), wrong.flaw), ("chain[1].agent_public_key", Flaw::AnotherKey));
}

/// WWA-7-17
#[test]
fn a_rotation_of_another_agent_or_from_another_key_is_refused() {
    let mut session = session();
    let mut of_another = rotation(&key(1), &key(2), session.now);
    of_another.agent_id = "somebody-else".into();
    of_another.signature = resigned(&key(1), &of_another);
    let mut first = session.clone();
    first.enter_rotation(of_another);
    let wrong = check_record(&value(&first.record()), &Registry::default()).unwrap_err();
    assert_eq!((wrong.place.as_str(), wrong.flaw), ("chain[1].rotation.agent_id", Flaw::AnotherAgent));
    session.enter_rotation(rotation(&key(7), &key(2), session.now));
    let wrong = check_record(&value(&session.record()), &Registry::default()).unwrap_err();
    assert_eq!(wrong.place, "chain[1].rotation.old_public_key");
}

/// WWA-7-17
#[test]
fn after_a_rotation_the_old_key_counts_for_a_day_and_then_no_more() {
    for (after, counts) in [(0, true), (DAY - 1, true), (DAY, false)] {
        let mut session = session();
        session.rotate(key(2));
        session.now += after;
        session.key = key(1);
        // Asked in time, answered a second later: only the answer is too late.
        session.round(&gap(2, "terms", Severity::Warn), Given::own("accept"));
        session.key = key(2);
        let verdict = check_record(&value(&session.record()), &both());
        assert_eq!(verdict.is_ok(), counts, "{after}: {verdict:?}");
        if let Err(wrong) = verdict {
            assert!(matches!(wrong.flaw, Flaw::KeyRetired { .. }), "{wrong}");
            assert_eq!(wrong.place, "chain[2].answered_by.public_key");
        }
    }
}

/// WWA-7-17
#[test]
fn a_rotation_that_is_entered_late_still_ends_the_old_key_in_time() {
    for (late, counts) in [(DAY - 1, true), (DAY, false)] {
        let mut session = session();
        let replaced = rotation(&key(1), &key(2), session.now);
        session.now += late;
        session.round(&gap(2, "terms", Severity::Warn), Given::own("accept"));
        session.enter_rotation(replaced);
        session.key = key(2);
        let verdict = check_record(&value(&session.record()), &both());
        assert_eq!(verdict.is_ok(), counts, "{verdict:?}");
        if let Err(wrong) = verdict {
            assert_eq!(wrong.place, "chain[1].answered_by.public_key", "the entry that was signed too late");
        }
    }
}

/// WWA-7-17
#[test]
fn a_handoff_after_the_chain_has_ended_may_be_signed_by_a_later_key_that_is_registered() {
    let session = session();
    let handed_over = Session { key: key(2), ..session.clone() }.handoff(None);
    let context = HandoffContext { clarification: session.record() };
    let handoff = Handoff { context, ..handed_over };
    let handoff = value(&Handoff { signature: resigned(&key(2), &handoff), ..handoff });
    assert!(check_handoff(&handoff, &both()).is_ok());
    for without in [Registry::default(), registry(&[&key(1)])] {
        assert_eq!(check_handoff(&handoff, &without).unwrap_err().place, "agent_public_key");
    }
}

/// WWA-7-17
#[test]
fn a_rotation_is_not_entered_before_it_happened() {
    let mut session = session();
    session.enter_rotation(rotation(&key(1), &key(2), session.now + 5));
    let wrong = check_record(&value(&session.record()), &both()).unwrap_err();
    assert_eq!(wrong.place, "chain[1].timestamp");
    assert_eq!(AGENT, value(&session.record())["agent_id"]);
}
