//! Clarification requests.

use super::documents::{event, ingest, with, without};
use crate::judge;
use countersign_protocol::aaep::{check, ingest::published};
use serde_json::{Value, json};

const NAME: &str = "agent.awaiting.clarification";

#[track_caller]
fn verdict(change: impl Fn(Value) -> Value, sound: bool) {
    let event = change(event(NAME));
    assert_eq!(published(&change(ingest(NAME))).is_ok(), sound);
    assert_eq!(check::event(&event).is_empty(), sound, "{event:#}");
    assert_eq!(judge::problems(NAME, &event).is_empty(), sound, "{event:#}");
}

fn choices(number: usize) -> Value {
    (0..number).map(|n| json!({ "value": n.to_string(), "label": format!("Number {n}") })).collect()
}

/// AAEP-6.5.2-07
#[test]
fn multiple_choice_offers_2_to_32_choices() {
    verdict(|q| without(q, "choices"), false);
    for wrong in [choices(0), choices(1), choices(33)] {
        verdict(|q| with(q, "choices", wrong.clone()), false);
    }
    verdict(|q| with(q, "choices", choices(2)), true);
    verdict(|q| with(q, "choices", choices(32)), true);
}

#[test]
fn choices_without_multiple_choice_are_refused() {
    verdict(|q| with(q, "accepted_response_kinds", json!(["freetext"])), false);
    verdict(|q| without(q, "accepted_response_kinds"), false);
    verdict(|q| without(without(q, "accepted_response_kinds"), "choices"), true);
    verdict(|q| without(with(q, "accepted_response_kinds", json!(["yes_no", "numeric"])), "choices"), true);
}

#[test]
fn a_choice_is_a_value_and_a_label_and_nothing_else() {
    let two = |first: Value| json!([first, { "value": "2", "label": "Two" }]);
    for wrong in [
        json!("1"),
        json!({ "value": "1" }),
        json!({ "label": "One" }),
        json!({ "value": 1, "label": "One" }),
        json!({ "value": "", "label": "One" }),
        json!({ "value": "1", "label": "" }),
        json!({ "value": "v".repeat(257), "label": "One" }),
        json!({ "value": "1", "label": "l".repeat(1025) }),
        json!({ "value": "1", "label": "One", "more": 1 }),
        json!({ "value": "2", "label": "Two" }),
    ] {
        verdict(|q| with(q, "choices", two(wrong.clone())), false);
    }
    verdict(|q| with(q, "choices", two(json!({ "value": "v".repeat(256), "label": "l".repeat(1024) }))), true);
}

#[test]
fn a_question_says_its_kinds_once_each_and_is_critical() {
    for wrong in [json!([]), json!(["freetext", "freetext"]), json!(["essay"]), json!("freetext")] {
        verdict(|q| without(with(q, "accepted_response_kinds", wrong.clone()), "choices"), false);
    }
    verdict(|q| with(q, "urgency", json!("normal")), false);
    verdict(|q| without(q, "urgency"), false);
    verdict(|q| with(q, "default_response", json!("")), true);
    verdict(|q| with(q, "default_response", json!(1)), false);
}
