mod properties;
pub(crate) mod script;

use super::Shaper;
use countersign_protocol::aaep::{
    event::{Boundary, Payload, ProgressUpdated},
    handshake::{Capabilities, CognitiveLoad, EventFilters},
};
use script::{Listener, START, Speaker, at, chunk, seqs, states, terms};
use serde_json::json;
use std::sync::Arc;

fn rate(rate: u32) -> Capabilities {
    Capabilities { max_events_per_second: Some(rate), ..Capabilities::default() }
}

fn boundaries(ends: &[Boundary]) -> Capabilities {
    Capabilities { coalesce_boundaries: Some(ends.to_vec()), ..Capabilities::default() }
}

fn excluding(pattern: &str) -> Capabilities {
    let filters = EventFilters { include: None, exclude: Some(vec![pattern.into()]) };
    Capabilities { event_filters: Some(filters), ..Capabilities::default() }
}

#[test]
fn a_filter_holds_back_everything_but_critical_events() {
    let (mut speaker, mut listener) = (Speaker::default(), Listener::new(excluding("aaep:*")));
    assert!(listener.hears(&speaker.state(1, START, "thinking")).is_empty());
    assert!(listener.hears(&speaker.tool(1, START, "search")).is_empty());
    assert_eq!(seqs(&listener.hears(&speaker.question(1, START))), [2]);
    assert_eq!((listener.shaper.held_events(), listener.shaper.next_due()), (0, None));
}

#[test]
fn at_one_a_second_no_five_seconds_hold_more_than_six() {
    let (mut speaker, mut listener) = (Speaker::default(), Listener::new(rate(1)));
    for n in 0..100 {
        listener.hears(&speaker.tool(1, listener.now, &format!("t{n}")));
        listener.until(at(n * 100 + 100));
    }
    let times: Vec<i64> = listener.heard.iter().map(|(when, _)| when.millis_since(START)).collect();
    assert_eq!(times.len(), 11, "all that may leave leaves: {times:?}");
    for start in &times {
        assert!(times.iter().filter(|when| (*start..=start + 5000).contains(when)).count() <= 6, "{times:?}");
    }
}

#[test]
fn a_question_leaves_in_the_same_call_behind_its_own_sessions_events_and_nothing_else() {
    let (mut speaker, mut listener) = (Speaker::default(), Listener::new(rate(1)));
    listener.hears(&speaker.tool(2, START, "first"));
    assert!(listener.hears(&speaker.tool(2, START, "second")).is_empty());
    for state in ["thinking", "deciding", "awaiting_input"] {
        assert!(listener.hears(&speaker.state(1, START, state)).is_empty());
    }
    listener.hears(&speaker.progress(1, START, 10));
    listener.hears(&speaker.progress(1, START, 20));
    let left = listener.hears(&speaker.question(1, START));
    assert_eq!(seqs(&left), [2, 4, 5]);
    assert_eq!(states(&left[0]), ("idle", "awaiting_input"));
    // Two events were sent beyond the budget, so the other session waits for three seconds.
    assert_eq!(listener.shaper.next_due(), Some(at(3000)));
}

#[test]
fn a_folded_event_has_the_id_of_its_last_part_and_the_time_of_its_delivery() {
    let (mut speaker, mut listener) = (Speaker::default(), Listener::new(rate(1)));
    listener.hears(&speaker.tool(1, START, "first"));
    listener.hears(&speaker.state(1, at(10), "thinking"));
    listener.hears(&speaker.state(1, at(20), "deciding"));
    let left = listener.until(at(1000));
    assert_eq!(left[0].event.envelope.event_id, "evt_1x2");
    assert_eq!(left[0].event.envelope.timestamp, at(1000));
}

#[test]
fn a_folded_event_is_never_stamped_later_than_its_successor() {
    let (mut speaker, mut listener) = (Speaker::default(), Listener::new(rate(1)));
    listener.hears(&speaker.tool(1, START, "first"));
    listener.hears(&speaker.state(1, at(10), "thinking"));
    listener.hears(&speaker.state(1, at(20), "deciding"));
    listener.hears(&speaker.tool(1, at(30), "second"));
    let left = listener.until(at(5000));
    let stamps: Vec<_> = left.iter().map(|spoken| spoken.event.envelope.timestamp).collect();
    assert_eq!(stamps, [at(30), at(30)]);
}

#[test]
fn a_state_that_says_more_than_its_kind_does_is_not_folded_and_the_chain_holds_around_it() {
    let (mut speaker, mut listener) = (Speaker::default(), Listener::new(rate(1)));
    listener.hears(&speaker.tool(1, START, "first"));
    listener.hears(&speaker.state(1, START, "awaiting_input"));
    let mut notice = Arc::into_inner(speaker.state(1, START, "calling_tool")).unwrap();
    Arc::make_mut(&mut notice.event).envelope.extensions.insert("ours".into(), json!({"outcome": "accepted"}));
    listener.hears(&Arc::new(notice));
    listener.hears(&speaker.state(1, START, "thinking"));
    listener.hears(&speaker.state(1, START, "deciding"));
    let left = listener.until(at(10_000));
    let chain: Vec<_> = left.iter().map(|spoken| states(spoken)).collect();
    assert_eq!(chain, [("idle", "awaiting_input"), ("awaiting_input", "calling_tool"), ("calling_tool", "deciding")]);
}

#[test]
fn text_waits_for_the_end_that_was_asked_for_and_keeps_its_place() {
    let ends = boundaries(&[Boundary::Sentence, Boundary::Completion]);
    let (mut speaker, mut listener) = (Speaker::default(), Listener::new(ends));
    let mut say = |listener: &mut Listener, text: &str, hint, complete| {
        listener.hears(&speaker.text(1, START, 0, text, hint, complete)).iter().map(|s| chunk(s).clone()).next()
    };
    assert_eq!(say(&mut listener, "Grüße ", Some(Boundary::Word), false), None);
    let first = say(&mut listener, "alle.", Some(Boundary::Sentence), false).unwrap();
    assert_eq!((first.chunk.as_str(), first.position), ("Grüße alle.", 0));
    assert_eq!(say(&mut listener, " Und", Some(Boundary::Word), false), None);
    // A paragraph's end is a sentence's end too, and text without a hint is not held.
    assert_eq!(say(&mut listener, " Schluss.\n", Some(Boundary::Paragraph), false).unwrap().position, 11);
    assert_eq!(say(&mut listener, "ohne", None, false).unwrap().chunk, "ohne");
    assert_eq!(say(&mut listener, "ja", Some(Boundary::None), false).unwrap().chunk, "ja");
    assert_eq!(say(&mut listener, "mehr ", Some(Boundary::Word), false), None);
    let last = say(&mut listener, "nicht", Some(Boundary::Word), true).unwrap();
    assert_eq!((last.chunk.as_str(), last.complete), ("mehr nicht", true));
    assert_eq!(listener.shaper.held_events(), 0);
}

#[test]
fn finished_sentences_do_not_wait_for_the_next_one_and_join_it_when_it_is_finished_too() {
    let (mut speaker, mut listener) = (Speaker::default(), Listener::new(rate(1)));
    listener.hears(&speaker.tool(1, START, "first"));
    listener.hears(&speaker.text(1, START, 0, "One.", Some(Boundary::Sentence), false));
    listener.hears(&speaker.text(1, START, 0, " Two", Some(Boundary::Word), false));
    listener.hears(&speaker.text(1, START, 0, " and.", Some(Boundary::Sentence), false));
    listener.hears(&speaker.text(1, START, 0, " Thr", Some(Boundary::Word), false));
    let left = listener.until(at(60_000));
    assert_eq!(left.iter().map(|s| chunk(s).chunk.as_str()).collect::<Vec<_>>(), ["One. Two and."]);
    assert_eq!((listener.shaper.held_events(), listener.shaper.next_due()), (1, None));
}

#[test]
fn a_question_brings_all_the_text_before_it_in_one_piece() {
    let (mut speaker, mut listener) = (Speaker::default(), Listener::new(rate(1)));
    listener.hears(&speaker.tool(1, START, "first"));
    listener.hears(&speaker.text(1, START, 0, "One.", Some(Boundary::Sentence), false));
    listener.hears(&speaker.text(1, START, 0, " Two", Some(Boundary::Word), false));
    let left = listener.hears(&speaker.question(1, START));
    assert_eq!((left.len(), chunk(&left[0]).chunk.as_str()), (2, "One. Two"));
}

#[test]
fn nothing_overtakes_a_phrase_and_progress_does_not_wait_long_for_its_end() {
    let (mut speaker, mut listener) = (Speaker::default(), Listener::new(Capabilities::default()));
    listener.hears(&speaker.text(1, START, 0, "half", Some(Boundary::Word), false));
    assert!(listener.hears(&speaker.progress(1, START, 10)).is_empty());
    assert_eq!(listener.shaper.next_due(), Some(at(2000)));
    // The phrase continues, so the progress came before its end and is sent.
    let left = listener.hears(&speaker.text(1, START, 0, " more", Some(Boundary::Word), false));
    assert_eq!(seqs(&left), [1]);
    listener.hears(&speaker.progress(1, START, 20));
    assert_eq!(seqs(&listener.until(at(2000))), [2, 3]);
    // An event showing that the agent moved on does not wait at all.
    listener.hears(&speaker.text(1, listener.now, 0, " again", Some(Boundary::Word), false));
    assert_eq!(seqs(&listener.hears(&speaker.tool(1, listener.now, "search"))), [4, 5]);
}

#[test]
fn the_end_of_a_session_lets_its_text_go_even_when_the_end_itself_is_filtered() {
    let (mut speaker, mut listener) = (Speaker::default(), Listener::new(excluding("aaep:agent.session.*")));
    listener.hears(&speaker.text(1, START, 0, "half", Some(Boundary::Word), false));
    let left = listener.hears(&speaker.completed(1, START));
    assert_eq!((seqs(&left), listener.shaper.held_events()), (vec![0], 0));
}

#[test]
fn joined_text_never_outgrows_an_event() {
    let (mut speaker, mut listener) = (Speaker::default(), Listener::new(rate(1)));
    listener.hears(&speaker.tool(1, START, "first"));
    for _ in 0..5 {
        listener.hears(&speaker.text(1, START, 0, &"é".repeat(3000), None, false));
    }
    assert_eq!(listener.shaper.held_text(), 30_000);
    let left = listener.until(at(60_000));
    assert_eq!(left.iter().map(|s| chunk(s).position).collect::<Vec<_>>(), [0, 6000, 12_000]);
}

#[test]
fn text_in_two_languages_is_not_joined() {
    let (mut speaker, mut listener) = (Speaker::default(), Listener::new(rate(1)));
    listener.hears(&speaker.tool(1, START, "first"));
    listener.hears(&speaker.text(1, START, 0, "one", None, false));
    let mut other = Arc::into_inner(speaker.text(1, START, 0, "zwei", None, false)).unwrap();
    if let Payload::OutputStreaming(output) = &mut Arc::make_mut(&mut other.event).payload {
        output.language = Some("de".into());
    }
    listener.hears(&Arc::new(other));
    assert_eq!(listener.shaper.held_events(), 2);
}

#[test]
fn a_subscriber_of_low_detail_gets_a_state_or_progress_no_more_than_every_two_seconds() {
    let calm = Capabilities { cognitive_load: Some(CognitiveLoad::Low), ..Capabilities::default() };
    let (mut speaker, mut listener) = (Speaker::default(), Listener::new(calm));
    assert_eq!(listener.hears(&speaker.state(1, START, "thinking")).len(), 1);
    assert!(listener.hears(&speaker.state(1, START, "deciding")).is_empty());
    assert!(listener.hears(&speaker.state(1, START, "thinking")).is_empty());
    assert!(listener.hears(&speaker.progress(2, START, 10)).is_empty());
    assert_eq!(listener.until(at(1999)).len(), 0);
    assert_eq!(states(&listener.until(at(2000))[0]), ("thinking", "thinking"));
    assert_eq!(seqs(&listener.until(at(4000))), [0]);
}

#[test]
fn new_terms_bind_pending_questions() {
    let (mut speaker, mut listener) = (Speaker::default(), Listener::new(rate(1)));
    listener.hears(&speaker.tool(1, START, "first"));
    listener.hears(&speaker.state(1, START, "thinking"));
    listener.hears(&speaker.tool(1, START, "second"));
    listener.shaper.renegotiate(terms(excluding("aaep:agent.state.*")), START);
    assert_eq!(seqs(&listener.until(START)), [2]);
}

#[test]
fn a_change_of_the_rate_gives_no_used_tokens_back() {
    let (mut speaker, mut listener) = (Speaker::default(), Listener::new(rate(2)));
    listener.hears(&speaker.tool(1, START, "first"));
    listener.hears(&speaker.tool(1, START, "second"));
    listener.shaper.renegotiate(terms(rate(10)), START);
    assert!(listener.hears(&speaker.tool(1, START, "third")).is_empty());
    assert_eq!(listener.shaper.next_due(), Some(at(100)));
}

#[test]
fn only_a_stream_that_shows_everything_is_counted_and_one_with_holes_never_again() {
    let full = boundaries(&[Boundary::None]);
    let counted = |capabilities| Shaper::new(terms(capabilities), START).form().sequence;
    assert!(counted(full.clone()));
    assert!(!counted(Capabilities::default()), "text is joined by default");
    assert!(!counted(Capabilities { max_events_per_second: Some(100_000), ..full.clone() }));
    assert!(!counted(Capabilities {
        event_filters: excluding("aaep:agent.tool.invoked").event_filters,
        ..full.clone()
    }));
    assert!(!counted(Capabilities { cognitive_load: Some(CognitiveLoad::Low), ..full.clone() }));
    let mut shaper = Shaper::new(terms(Capabilities::default()), START);
    shaper.renegotiate(terms(full), START);
    assert!(!shaper.form().sequence);
}

#[test]
fn ten_thousand_events_that_can_be_folded_are_held_as_a_handful() {
    let (mut speaker, mut listener) = (Speaker::default(), Listener::new(rate(1)));
    listener.hears(&speaker.tool(1, START, "first"));
    for n in 0..10_000u16 {
        listener.hears(&speaker.progress(1, START, (n % 100) as u8));
        listener.hears(&speaker.state(1, START, if n % 2 == 0 { "thinking" } else { "deciding" }));
        listener.hears(&speaker.text(1, START, (n % 3) as u8, "x", None, false));
    }
    assert_eq!((listener.shaper.held_events(), listener.shaper.held_text()), (5, 10_000));
    assert_eq!(listener.until(at(60_000)).len(), 5);
}

#[test]
fn a_shaper_of_which_nothing_waits_is_a_few_words_however_much_went_through_it() {
    let (mut speaker, mut listener) = (Speaker::default(), Listener::new(rate(1)));
    for session in 0..1000 {
        listener.hears(&speaker.tool(session, START, "search"));
    }
    assert_eq!(listener.until(at(1_000_000)).len(), 999);
    assert!(listener.shaper.waiting.is_empty());
    assert!(size_of::<Shaper>() <= 256, "{}", size_of::<Shaper>());
}

#[test]
fn a_clock_that_was_set_back_does_not_stop_the_stream() {
    let (mut speaker, mut shaper) = (Speaker::default(), Shaper::new(terms(rate(1)), at(3_600_000)));
    let mut out = Vec::new();
    shaper.push(&speaker.tool(1, START, "first"), at(3_600_000), &mut out);
    shaper.push(&speaker.tool(1, START, "second"), START, &mut out);
    assert_eq!(shaper.next_due(), Some(at(1000)));
    shaper.pull(at(1000), &mut out);
    assert_eq!(out.len(), 2);
}

#[test]
fn progress_with_nothing_in_it_is_still_the_latest() {
    let (mut speaker, mut listener) = (Speaker::default(), Listener::new(rate(1)));
    listener.hears(&speaker.tool(1, START, "first"));
    listener.hears(&speaker.progress(1, START, 99));
    listener.hears(&speaker.say(1, START, Payload::ProgressUpdated(ProgressUpdated::default())));
    assert_eq!(seqs(&listener.until(at(9000))), [2]);
}
