//! Tampering with a finished chain.

use super::{
    documents::{leaves, spoiled},
    support::{
        Given, OTHER_SESSION, SESSION, Session, eventful, eventful_as, eventful_registry, gap, key, plan, value,
    },
};
use countersign_jose::clarification::{Wrong, check_record};
use countersign_protocol::{
    clarification::{Severity, signed},
    json,
};
use serde_json::{Value, json};

fn record() -> Value {
    value(&eventful().record())
}

fn refused(record: &Value) -> Wrong {
    match check_record(record, &eventful_registry()) {
        Err(wrong) => wrong,
        Ok(_) => panic!("nobody noticed: {record}"),
    }
}

fn chain(record: &mut Value) -> &mut Vec<Value> {
    record["chain"].as_array_mut().unwrap()
}

/// Recomputes the hashes from an entry on, as an attacker without a key would.
fn rehashed(record: &Value, from: usize) -> Value {
    let mut record = record.clone();
    let mut prev = from.checked_sub(1).map(|before| record["chain"][before]["entry_hash"].clone());
    for entry in chain(&mut record).iter_mut().skip(from) {
        if let Some(prev) = prev {
            entry["prev"] = prev;
        }
        entry["entry_hash"] = json!(signed::DigestText(signed::entry_hash(entry).unwrap()));
        prev = Some(entry["entry_hash"].clone());
    }
    record
}

/// WWA-7-01, WWA-7-12, WWA-7-15
#[test]
fn the_chain_that_all_this_is_done_to_is_sound() {
    let report = check_record(&record(), &eventful_registry()).unwrap();
    assert_eq!(report.rounds.len(), 5);
    assert!(report.warnings.is_empty(), "{:?}", report.warnings);
}

/// WWA-7-01, WWA-7-04, WWA-7-08, WWA-7-12, WWA-7-15
#[test]
fn a_change_of_any_member_of_any_entry_is_found_and_the_entry_is_named() {
    let record = record();
    let mut places = Vec::new();
    leaves(&record, "", &mut places);
    for place in places {
        let mut changed = record.clone();
        let leaf = changed.pointer_mut(&place).unwrap();
        *leaf = spoiled(leaf);
        let wrong = refused(&changed);
        // A changed member of the record itself may surface first in an entry that depends on it.
        let Some(rest) = place.strip_prefix("/chain/") else { continue };
        let entry = rest.split('/').next().unwrap();
        assert!(wrong.place.starts_with(&format!("chain[{entry}]")), "{place} was changed, {wrong} was said");
    }
}

/// WWA-7-01, WWA-7-04, WWA-7-08, WWA-7-12
#[test]
fn a_change_is_found_also_where_all_hashes_were_made_anew() {
    let record = record();
    for entry in 0..record["chain"].as_array().unwrap().len() {
        let mut places = Vec::new();
        leaves(&record["chain"][entry], "", &mut places);
        for place in places.iter().filter(|place| !["/entry_hash", "/prev"].contains(&place.as_str())) {
            let mut changed = record.clone();
            let leaf = changed.pointer_mut(&format!("/chain/{entry}{place}")).unwrap();
            *leaf = spoiled(leaf);
            let wrong = refused(&rehashed(&changed, entry));
            // Later entries, or at the latest the whole chain, are signed over the old hash.
            let signed = wrong.place.ends_with("signature") || wrong.place.starts_with(&format!("chain[{entry}]"));
            let contradicted = wrong.place == "all_resolved" && place == "/resolved";
            assert!(signed || contradicted, "{place} of {entry} was changed, {wrong} was said");
        }
    }
}

/// WWA-7-01
#[test]
fn every_byte_of_the_record_counts() {
    let mut session = Session::begin(SESSION, key(1), plan());
    session.round(&gap(1, "payee.account", Severity::Block), Given::signed("one", "caller-1", key(9)));
    session.rotate(key(2));
    session.change_plan(json!({}));
    let bytes = serde_json::to_vec(&session.record()).unwrap();
    assert!(check_record(&json::value(&bytes).unwrap(), &eventful_registry()).is_ok());
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        // Flips the lowest bit, or the bit for upper and lower case.
        changed[at] ^= if at % 2 == 0 { 0x01 } else { 0x20 };
        let found = json::value(&changed).map_or(true, |read| check_record(&read, &eventful_registry()).is_err());
        assert!(found, "byte {at}: {}", String::from_utf8_lossy(&changed[at.saturating_sub(20)..=at]));
    }
}

/// WWA-7-01, WWA-7-12
#[test]
fn removed_moved_and_inserted_entries_are_found_at_their_place() {
    let sound = record();
    let length = sound["chain"].as_array().unwrap().len();
    for at in 0..length {
        let mut dropped = sound.clone();
        chain(&mut dropped).remove(at);
        let wrong = refused(&dropped);
        let expected = if at + 1 == length { "total_rounds".to_owned() } else { format!("chain[{at}].prev") };
        assert_eq!(wrong.place, expected, "{at} was dropped");

        let mut twice = sound.clone();
        let copy = twice["chain"][at].clone();
        chain(&mut twice).insert(at, copy);
        assert_eq!(refused(&twice).place, format!("chain[{}].prev", at + 1), "{at} stands twice");
    }
    for at in 0..length - 1 {
        let mut swapped = sound.clone();
        chain(&mut swapped).swap(at, at + 1);
        assert_eq!(refused(&swapped).place, format!("chain[{at}].prev"), "{at} was moved");
    }
}

/// WWA-7-12
#[test]
fn a_chain_that_is_cut_off_does_not_fit_its_signature() {
    let sound = record();
    for left in 0..sound["chain"].as_array().unwrap().len() {
        let mut cut = sound.clone();
        chain(&mut cut).truncate(left);
        refused(&cut);
        let rounds = cut["chain"].as_array().unwrap().iter().filter(|entry| entry.get("round").is_some()).count();
        cut["total_rounds"] = json!(rounds);
        let wrong = refused(&cut);
        let signed = ["chain_signature", "agent_public_key", "all_resolved"].contains(&wrong.place.as_str());
        assert!(signed, "cut to {left}: {wrong}");
    }
}

/// WWA-7-01, WWA-7-04, WWA-7-08
#[test]
fn entries_of_another_session_do_not_fit_in() {
    let (sound, other) = (record(), value(&eventful_as(OTHER_SESSION).record()));
    for at in 0..sound["chain"].as_array().unwrap().len() {
        let mut spliced = sound.clone();
        spliced["chain"][at] = other["chain"][at].clone();
        assert_eq!(refused(&spliced).place, format!("chain[{at}].prev"));
        let spliced = rehashed(&spliced, at);
        // A rotation is identical in all sessions: rehashed, the spliced entry equals the original.
        if spliced != sound {
            let wrong = refused(&spliced);
            assert!(wrong.place.starts_with(&format!("chain[{at}].")), "{at}: {wrong}");
        }
        assert_eq!(spliced == sound, at == 2);
    }
    let mut moved = sound.clone();
    moved["session_id"] = other["session_id"].clone();
    assert_eq!(refused(&moved).place, "chain[0].prev");
}

/// WWA-7-08
#[test]
fn an_answer_cannot_be_moved_to_another_question() {
    let sound = record();
    for (from, to) in [(1, 5), (5, 1), (0, 1)] {
        let mut moved = sound.clone();
        for member in ["answer", "answered_by", "answer_signature", "answer_timestamp"] {
            moved["chain"][to][member] = sound["chain"][from][member].clone();
        }
        let wrong = refused(&rehashed(&moved, to));
        assert!(wrong.place.starts_with(&format!("chain[{to}].answer")), "{wrong}");
    }
}
