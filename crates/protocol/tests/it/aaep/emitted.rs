//! Every event accepted from an agent can be emitted as a valid event.

use super::{
    documents::{self, EVENTS},
    spoil::spoiled,
};
use crate::judge;
use countersign_protocol::{
    aaep::{
        check,
        envelope::{CONTEXT, EventEnvelope, LocalizationHints, Producer, VERSION},
        event::{Event, Payload},
        ingest::{IngestedEvent, published},
    },
    time::UnixMillis,
};
use serde_json::{Value, json};

#[test]
fn every_ingested_event_is_sound_when_the_hub_has_stamped_it() {
    let mut taken = 0;
    for name in EVENTS {
        for spoiled in spoiled(name, &documents::ingest(name)) {
            let Ok(published) = published(&spoiled.document) else { continue };
            let emitted = serde_json::to_value(stamped(published)).unwrap();
            let found = check::event(&emitted);
            assert!(found.is_empty(), "{name}, {}: {found:?}\n{emitted:#}", spoiled.what);
            taken += 1;
        }
    }
    assert!(taken > 400, "only {taken} documents were taken");
}

#[test]
fn every_judge_accepts_an_event_that_was_read_stamped_and_written() {
    for name in EVENTS {
        let event = stamped(published(&documents::ingest(name)).unwrap());
        let written = serde_json::to_value(&event).unwrap();
        judge::judge_event(&written);
        assert_eq!(serde_json::from_value::<Event>(written).unwrap(), event, "{name} changes when it is read again");
    }
}

#[test]
fn nothing_that_an_agent_says_is_lost_on_the_way() {
    for name in EVENTS {
        let said = documents::ingest(name);
        let written = serde_json::to_value(stamped(published(&said).unwrap())).unwrap();
        for (member, value) in said.as_object().unwrap() {
            assert_eq!(&written[member], value, "{name} loses {member}");
        }
    }
}

fn stamped(published: IngestedEvent) -> Event {
    let urgency = published.urgency.unwrap_or(published.payload.urgency());
    let mut hints = published.localization_hints.unwrap_or_else(|| LocalizationHints::of("en"));
    hints.primary_language.get_or_insert("en".into());
    let envelope = EventEnvelope {
        context: published.context.unwrap_or(json!(CONTEXT)),
        event_id: "evt_1".into(),
        session_id: "sess_1".into(),
        timestamp: UnixMillis(1_794_744_000_250),
        producer: Producer {
            agent_id: "travel-desk".into(),
            agent_version: None,
            agent_name: None,
            model: None,
            manifest_uri: None,
        },
        aaep_version: VERSION.into(),
        sequence_number: None,
        verbosity: published.verbosity,
        urgency,
        localization_hints: hints,
        correlation_id: published.correlation_id,
        extensions: published.extensions,
    };
    Event { envelope, payload: with_token(published.payload) }
}

fn with_token(mut payload: Payload) -> Payload {
    match &mut payload {
        Payload::AwaitingConfirmation(asked) => asked.reply_token = "rpl_1".into(),
        Payload::AwaitingClarification(asked) => asked.reply_token = "rpl_1".into(),
        _ => {}
    }
    payload
}

/// The validator itself fails an invalid event.
#[test]
#[should_panic(expected = "no sound event")]
fn the_judge_of_events_fails_a_spoiled_one() {
    judge::judge_event(&documents::with(documents::event("agent.state.changed"), "to_state", json!("")));
}

#[test]
#[should_panic(expected = "no sound confirmation.reply")]
fn the_judge_of_messages_fails_a_spoiled_one() {
    let reply: Value = documents::without(documents::message("confirmation.reply"), "decision");
    judge::judge_message("confirmation.reply", &reply);
}
