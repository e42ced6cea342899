use super::{Form, SharedEvent};
use crate::aaep::shape::tests::script::{START, event};
use countersign_protocol::aaep::{
    envelope::{LocalizationHints, Verbosity},
    event::{Event, OutputStreaming, Payload, SessionStarted, Summaries},
};
use serde_json::Value;
use std::sync::Arc;

fn started(terse: Option<&str>, normal: Option<&str>, detailed: Option<&str>) -> Event {
    let own = |text: Option<&str>| text.map(str::to_owned);
    let summaries = Summaries { terse: own(terse), normal: own(normal), detailed: own(detailed) };
    event(1, 7, START, Payload::SessionStarted(SessionStarted { summaries, ..SessionStarted::default() }))
}

fn written(event: Event, form: &Form) -> Value {
    serde_json::from_str(&SharedEvent::new(1, 7, event, Vec::new()).json(form)).unwrap()
}

fn form(verbosity: Verbosity) -> Form {
    Form { verbosity, ..Form::default() }
}

#[test]
fn line_ends_of_any_reader_are_never_written_unescaped() {
    let text = "a\u{85}b\u{2028}c\u{2029}d\ne";
    let output = OutputStreaming { chunk: text.into(), ..OutputStreaming::default() };
    let spoken = SharedEvent::new(1, 0, event(1, 0, START, Payload::OutputStreaming(output)), Vec::new());
    let json = spoken.json(&Form::default());
    assert!(!json.contains(['\u{85}', '\u{2028}', '\u{2029}', '\n', '\r']), "{json}");
    let back: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(back["chunk"], text);
}

#[test]
fn a_form_is_written_once_and_forms_do_not_mix() {
    let spoken = SharedEvent::new(1, 7, started(Some("t"), Some("n"), Some("d")), Vec::new());
    let plain = spoken.json(&Form::default());
    let counted = spoken.json(&Form { sequence: true, ..Form::default() });
    let terse = spoken.json(&form(Verbosity::Terse));
    assert!(Arc::ptr_eq(&plain, &spoken.json(&Form::default())));
    assert!(Arc::ptr_eq(&terse, &spoken.json(&form(Verbosity::Terse))));
    assert!(!plain.contains("sequence_number") && counted.contains("\"sequence_number\":7"), "{counted}");
}

#[test]
fn many_threads_that_want_one_form_get_one_text() {
    let spoken = SharedEvent::new(1, 7, started(None, Some("n"), None), Vec::new());
    let texts: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| spoken.json(&Form::default()))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(texts.iter().all(|text| Arc::ptr_eq(text, &texts[0])));
}

#[test]
fn an_event_has_the_summaries_up_to_the_wanted_length_and_says_which_length_it_has() {
    let has =
        |json: &Value| ["summary_terse", "summary_normal", "summary_detailed"].map(|name| json.get(name).is_some());
    let all = || started(Some("t"), Some("n"), Some("d"));
    for (wanted, summaries) in [
        (Verbosity::Terse, [true, true, false]),
        (Verbosity::Normal, [true, true, false]),
        (Verbosity::Detailed, [true, true, true]),
    ] {
        let json = written(all(), &form(wanted));
        assert_eq!((has(&json), &json["verbosity"]), (summaries, &serde_json::to_value(wanted).unwrap()));
    }
    let lacking = |event, wanted| written(event, &form(wanted))["verbosity"].clone();
    assert_eq!(lacking(started(None, Some("n"), None), Verbosity::Terse), "normal");
    assert_eq!(lacking(started(None, Some("n"), None), Verbosity::Detailed), "normal");
    assert_eq!(lacking(started(Some("t"), None, None), Verbosity::Detailed), "terse");
    let only = written(started(None, None, Some("d")), &form(Verbosity::Terse));
    assert_eq!((only["summary_detailed"].as_str(), only["verbosity"].as_str()), (Some("d"), Some("detailed")));
}

#[test]
fn the_hubs_words_come_in_the_language_that_was_asked_for_if_there_is_one() {
    let mut german = started(None, Some("Hallo"), None);
    german.envelope.localization_hints = LocalizationHints::of("de");
    let spoken = SharedEvent::new(1, 7, started(None, Some("hello"), None), vec![("de".into(), german)]);
    let said = |language: Option<&str>| {
        let form = Form { language: language.map(Into::into), ..Form::default() };
        let json: Value = serde_json::from_str(&spoken.json(&form)).unwrap();
        (json["summary_normal"].clone(), json["localization_hints"]["primary_language"].clone())
    };
    assert_eq!(said(Some("de")), ("Hallo".into(), "de".into()));
    for other in [None, Some("en"), Some("fr")] {
        assert_eq!(said(other), ("hello".into(), "en".into()));
    }
}

#[test]
fn an_event_is_critical_if_either_side_says_so() {
    let mut urgent = started(None, Some("n"), None);
    assert!(!SharedEvent::new(1, 0, urgent.clone(), Vec::new()).is_critical());
    urgent.envelope.urgency = countersign_protocol::aaep::envelope::Urgency::Critical;
    assert!(SharedEvent::new(1, 0, urgent, Vec::new()).is_critical());
}
