//! Reads all examples and fixtures published by the protocol; without a local copy the tests check nothing.

use crate::judge;
use countersign_protocol::aaep::{check, event::Payload, handshake::SubscriptionRequest, ingest, reply};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn folder(name: &str) -> BTreeMap<String, Value> {
    judge::published().map(|folder| judge::load_schemas(&folder.join(name), ".json")).unwrap_or_default()
}

/// AAEP-SCHEMA-26
#[test]
fn every_published_example_of_an_event_is_taken() {
    let examples = folder("schema-examples/core");
    assert!(judge::published().is_none() || examples.len() == 36, "{} examples", examples.len());
    for (name, example) in &examples {
        let taken = ingest::published(example).unwrap_or_else(|problems| panic!("{name}: {problems:?}"));
        if let Payload::AwaitingConfirmation(asked) = taken.payload {
            let hopeful = json!("accept");
            let mut risked = example.clone();
            risked["default_decision"] = hopeful;
            let irreversible = asked.irreversible == Some(true);
            assert_eq!(ingest::published(&risked).is_err(), irreversible, "{name} as if nobody need answer");
        }
    }
}

/// The examples lack only the language, which we require, and some of them the urgency.
#[test]
fn published_examples_become_sound_events_by_saying_their_language() {
    for (name, mut example) in folder("schema-examples/core") {
        if example["localization_hints"]["primary_language"].is_null() {
            example["localization_hints"] = json!({ "primary_language": "en-US" });
        }
        if example["urgency"].is_null() {
            example["urgency"] = json!("normal");
        }
        assert_eq!(check::event(&example), [], "{name}");
        judge::judge_event(&example);
    }
}

/// The examples show the envelope only; the payload is all that is missing.
#[test]
fn published_examples_of_the_envelope_lack_only_a_payload() {
    let examples = folder("schema-examples");
    for (name, example) in &examples {
        let found = ingest::published(example).unwrap_err();
        let missing = found.iter().all(|problem| problem.why == "is required");
        assert!(
            missing && found.iter().all(|p| ["summary_normal", "tool"].contains(&p.member.as_str())),
            "{name}: {found:?}"
        );
    }
}

#[test]
fn every_published_example_of_a_reply_is_read() {
    for (name, example) in folder("schema-examples/handshake") {
        let kind = name.rsplit_once(".example").unwrap().0;
        judge::judge_message(kind, &example);
        if kind.ends_with(".reply") {
            reply::parse(&example, false).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        }
    }
}

#[test]
fn valid_fixtures_are_taken() {
    for (name, fixture) in folder("fixtures/valid") {
        if name.starts_with("subscription.request") {
            SubscriptionRequest::parse(&fixture).unwrap_or_else(|why| panic!("{name}: {why}"));
        } else {
            ingest::published(&fixture).unwrap_or_else(|problems| panic!("{name}: {problems:?}"));
        }
    }
}

#[test]
fn invalid_fixtures_are_refused() {
    for (name, fixture) in folder("fixtures/invalid") {
        if name == "duplicate-completion-streaming" {
            // Valid by itself; the defect is an earlier completion in the same session.
            assert!(ingest::published(&fixture).is_ok());
            continue;
        }
        assert!(!check::event(&fixture).is_empty(), "{name} is called sound");
        assert!(ingest::published(&fixture).is_err(), "{name} is taken");
    }
}
