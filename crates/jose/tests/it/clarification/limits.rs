//! Size limits are enforced; age is not limited.

use super::support::{Given, SESSION, Session, eventful, eventful_registry, gap, key, plan, registry, value};
use countersign_jose::clarification::{Flaw, Registry, check_message, check_record};
use countersign_protocol::{
    clarification::{Severity, limits::MAX_ENTRIES, signed},
    json,
};
use serde_json::{Value, json};

fn asking(gaps: u32) -> Session {
    let mut session = Session::begin(SESSION, key(1), plan());
    session.open = (1..=gaps).map(|number| gap(number, &format!("field{number}"), Severity::Warn)).collect();
    session
}

/// WWA-4-23
#[test]
fn a_message_has_64_gaps_and_not_one_more() {
    assert!(check_message(&value(&asking(64).message()), &Registry::default()).is_ok());
    let wrong = check_message(&value(&asking(65).message()), &Registry::default()).unwrap_err();
    assert_eq!((wrong.place.as_str(), wrong.flaw), ("gaps", Flaw::TooMuch { what: "gaps", limit: 64, found: 65 }));
}

/// WWA-4-23
#[test]
fn a_text_has_16384_characters_and_not_one_more() {
    for (length, fits) in [(16_384, true), (16_385, false)] {
        let mut session = asking(1);
        // Characters, not bytes.
        session.open[0].question = "é".repeat(length);
        let verdict = check_message(&value(&session.message()), &Registry::default());
        assert_eq!(verdict.is_ok(), fits);
        assert!(verdict.err().is_none_or(|wrong| wrong.place == "gaps[0].question"));

        let mut session = Session::begin(SESSION, key(1), plan());
        session.round(&gap(1, "payee.account", Severity::Block), Given::own(&"é".repeat(length)));
        let verdict = check_record(&value(&session.record()), &registry(&[&key(1)]));
        assert_eq!(verdict.is_ok(), fits);
        assert!(verdict.err().is_none_or(|wrong| wrong.place == "chain[0].answer"));
    }
}

/// WWA-4-23
#[test]
fn a_chain_has_10000_entries_and_not_one_more() {
    let mut session = Session::begin(SESSION, key(1), plan());
    let account = gap(1, "payee.account", Severity::Block);
    for _ in 0..MAX_ENTRIES {
        session.round(&account, Given::own("one"));
    }
    let report = check_record(&value(&session.record()), &registry(&[&key(1)])).unwrap();
    assert_eq!(report.rounds.len(), 10_000);
    session.round(&account, Given::own("one"));
    let wrong = check_record(&value(&session.record()), &registry(&[&key(1)])).unwrap_err();
    assert_eq!(wrong.flaw, Flaw::TooMuch { what: "entries", limit: 10_000, found: 10_001 });
}

/// WWA-6.2-05
#[test]
fn a_chain_that_is_ten_years_old_is_proven_like_any_other() {
    let mut session = eventful();
    session.now += 10 * 365 * 86_400;
    assert!(check_record(&value(&eventful().record()), &eventful_registry()).is_ok());
    // Also with ten years between two entries.
    session.round(&gap(5, "payee.bank", Severity::Warn), Given::own("accept"));
    assert!(check_record(&value(&session.record()), &eventful_registry()).is_ok());
}

/// WWA-4-22
#[test]
fn a_document_that_two_parsers_could_read_differently_is_not_read() {
    let sound = serde_json::to_string(&asking(1).message()).unwrap();
    assert!(json::value(sound.as_bytes()).is_ok());
    let twice = sound.replacen("\"accepted_gaps\":0", "\"accepted_gaps\":0,\"accepted_gaps\":0", 1);
    assert!(json::value(twice.as_bytes()).unwrap_err().to_string().contains("accepted_gaps"));
    let lone = sound.replacen("What is", "\\ud800 is", 1);
    assert!(json::value(lone.as_bytes()).is_err());
    let beyond = sound.replacen("\"accepted_gaps\":0", "\"accepted_gaps\":9007199254740992", 1);
    assert!(json::value(beyond.as_bytes()).is_err());
    let plan: Value = json!({ "amount": 9_007_199_254_740_992_u64 });
    assert!(signed::plan_digest(&plan).is_err(), "not even if it came in some other way");
}

/// WWA-4-22
#[test]
fn two_spellings_of_a_letter_are_two_texts() {
    let (composed, decomposed) = (json!({ "payee": "Caf\u{e9}" }), json!({ "payee": "Cafe\u{301}" }));
    assert_ne!(signed::plan_digest(&composed).unwrap(), signed::plan_digest(&decomposed).unwrap());
    let mut session = asking(1);
    session.open[0].question = "Caf\u{e9}?".into();
    let mut message = value(&session.message());
    message["gaps"][0]["question"] = json!("Cafe\u{301}?");
    assert_eq!(check_message(&message, &Registry::default()).unwrap_err().place, "signature");
}
