//! Invariants of a shaper for any events in any order and at any time.

use super::script::{Listener, START, Speaker, chunk, states};
use crate::aaep::shared_event::SharedEvent;
use countersign_protocol::{
    aaep::{
        event::{Boundary, Payload},
        handshake::{Capabilities, CognitiveLoad, EventFilters},
    },
    ids::RowKey,
    time::UnixMillis,
};
use proptest::{collection::vec, option, prelude::*, sample::select};
use std::{collections::BTreeMap, sync::Arc};

#[derive(Clone, Debug)]
enum Act {
    State(&'static str),
    Progress(u8),
    Text { output: u8, chunk: &'static str, hint: Option<Boundary> },
    Tool,
    Question,
}

const HINTS: [Boundary; 5] =
    [Boundary::None, Boundary::Word, Boundary::Sentence, Boundary::Paragraph, Boundary::Completion];

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        3 => select(vec!["thinking", "deciding", "calling_tool"]).prop_map(Act::State),
        3 => (0..100u8).prop_map(Act::Progress),
        5 => (0..2u8, select(vec!["", "a", "ñé ", "word."]), option::of(select(HINTS.to_vec())))
            .prop_map(|(output, chunk, hint)| Act::Text { output, chunk, hint }),
        2 => Just(Act::Tool),
        1 => Just(Act::Question),
    ]
}

/// Session, delay since the previous event, and event.
fn acts() -> impl Strategy<Value = Vec<(RowKey, i64, Act)>> {
    vec((0..3i64, prop_oneof![3 => Just(0i64), 3 => 0..300i64, 1 => 0..4000i64], act()), 0..120)
}

fn capabilities() -> impl Strategy<Value = Capabilities> {
    let ends = vec(select(HINTS.to_vec()), 1..5);
    let load = option::of(select(vec![CognitiveLoad::Low, CognitiveLoad::Medium]));
    (option::of(select(vec![1u32, 2, 7, 100])), option::of(ends), load).prop_map(|(rate, ends, cognitive_load)| {
        Capabilities {
            max_events_per_second: rate,
            coalesce_boundaries: ends,
            cognitive_load,
            ..Capabilities::default()
        }
    })
}

/// All events pushed and sent, by session, and those sent without a critical event forcing them out.
struct Told {
    said: BTreeMap<RowKey, Vec<Arc<SharedEvent>>>,
    heard: BTreeMap<RowKey, Vec<Arc<SharedEvent>>>,
    unforced: Vec<(UnixMillis, Arc<SharedEvent>)>,
}

fn tell(capabilities: Capabilities, acts: &[(RowKey, i64, Act)]) -> Told {
    let (mut speaker, mut listener) = (Speaker::default(), Listener::new(capabilities));
    let (mut said, mut unforced) = (BTreeMap::<RowKey, Vec<_>>::new(), Vec::new());
    let mut hear = |listener: &mut Listener, spoken: Arc<SharedEvent>, unforced: &mut Vec<_>| {
        said.entry(spoken.session).or_default().push(Arc::clone(&spoken));
        let left = listener.hears(&spoken);
        if spoken.is_critical() {
            assert!(
                left.last().is_some_and(|last| Arc::ptr_eq(last, &spoken)),
                "critical ones leave at once, as they are"
            );
            assert!(left.iter().all(|other| other.session == spoken.session), "no other session is let go for it");
        } else {
            unforced.extend(left.into_iter().map(|spoken| (listener.now, spoken)));
        }
    };
    for (session, later, act) in acts {
        let until = listener.now.plus_millis(*later);
        let before = listener.heard.len();
        listener.until(until);
        unforced.extend(listener.heard[before..].iter().cloned());
        let now = listener.now;
        let spoken = match act {
            Act::State(to) => speaker.state(*session, now, to),
            Act::Progress(percent) => speaker.progress(*session, now, *percent),
            Act::Text { output, chunk, hint } => speaker.text(*session, now, *output, chunk, *hint, false),
            Act::Tool => speaker.tool(*session, now, "search"),
            Act::Question => speaker.question(*session, now),
        };
        hear(&mut listener, spoken, &mut unforced);
    }
    for session in 0..3 {
        for output in 0..2 {
            let last = speaker.text(session, listener.now, output, "!", None, true);
            hear(&mut listener, last, &mut unforced);
        }
        let end = speaker.completed(session, listener.now);
        hear(&mut listener, end, &mut unforced);
    }
    let before = listener.heard.len();
    listener.until(listener.now.plus_secs(3600));
    unforced.extend(listener.heard[before..].iter().cloned());
    assert_eq!((listener.shaper.held_events(), listener.shaper.next_due()), (0, None), "nothing stays behind");
    let mut heard = BTreeMap::<RowKey, Vec<_>>::new();
    listener.heard.into_iter().for_each(|(_, spoken)| heard.entry(spoken.session).or_default().push(spoken));
    unforced.retain(|(_, spoken)| !spoken.is_critical());
    Told { said, heard, unforced }
}

fn text_of(events: &[Arc<SharedEvent>], output: &str) -> String {
    let mut text = String::new();
    for spoken in events {
        if let Payload::OutputStreaming(piece) = &spoken.event.payload
            && piece.output_id.as_deref() == Some(output)
        {
            assert_eq!(piece.position, i64::try_from(text.chars().count()).unwrap(), "no gap and no overlap");
            text.push_str(&piece.chunk);
        }
    }
    text
}

fn of_kind(events: &[Arc<SharedEvent>], wanted: fn(&Payload) -> bool) -> Vec<Arc<SharedEvent>> {
    events.iter().filter(|spoken| wanted(&spoken.event.payload)).cloned().collect()
}

const STATE: fn(&Payload) -> bool = |payload| matches!(payload, Payload::StateChanged(_));
const PROGRESS: fn(&Payload) -> bool = |payload| matches!(payload, Payload::ProgressUpdated(_));
const TEXT: fn(&Payload) -> bool = |payload| matches!(payload, Payload::OutputStreaming(_));
const ALONE: fn(&Payload) -> bool = |payload| !STATE(payload) && !PROGRESS(payload) && !TEXT(payload);

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_and_nothing_is_delivered_twice(capabilities in capabilities(), acts in acts()) {
        let told = tell(capabilities, &acts);
        for (session, said) in &told.said {
            let heard = &told.heard[session];
            for output in ["out_0", "out_1"] {
                prop_assert_eq!(text_of(heard, output), text_of(said, output));
                let ends = of_kind(heard, TEXT);
                let ends = ends.iter().filter(|s| chunk(s).output_id.as_deref() == Some(output) && chunk(s).complete);
                prop_assert_eq!(ends.count(), 1);
            }
            let ids = |events: &[Arc<SharedEvent>]| events.iter().map(|s| s.event.envelope.event_id.clone()).collect::<Vec<_>>();
            prop_assert_eq!(ids(&of_kind(heard, ALONE)), ids(&of_kind(said, ALONE)));
            let last_progress = |events: &[Arc<SharedEvent>]| of_kind(events, PROGRESS).last().map(|s| s.event.payload.clone());
            prop_assert_eq!(last_progress(heard), last_progress(said));
        }
    }

    #[test]
    fn a_session_is_heard_in_its_order_and_its_time_never_runs_back(capabilities in capabilities(), acts in acts()) {
        for heard in tell(capabilities, &acts).heard.values() {
            prop_assert!(heard.is_sorted_by(|one, next| one.seq < next.seq));
            prop_assert!(heard.is_sorted_by_key(|spoken| spoken.event.envelope.timestamp));
        }
    }

    #[test]
    fn every_delivery_is_an_event_by_all_the_rules_in_any_form(capabilities in capabilities(), acts in acts()) {
        let form = Listener::new(capabilities.clone()).shaper.form().clone();
        for spoken in tell(capabilities, &acts).heard.values().flatten() {
            let json = serde_json::from_str(&spoken.json(&form)).unwrap();
            prop_assert_eq!(countersign_protocol::aaep::check::event(&json), [], "{}", json);
        }
    }

    #[test]
    fn states_always_follow_from_one_another_and_end_where_they_ended(capabilities in capabilities(), acts in acts()) {
        let told = tell(capabilities, &acts);
        for (session, said) in &told.said {
            let (said, heard) = (of_kind(said, STATE), of_kind(&told.heard[session], STATE));
            let mut state = "idle";
            for spoken in &heard {
                let (from, to) = states(spoken);
                prop_assert_eq!(from, state);
                state = to;
            }
            prop_assert_eq!(state, said.last().map_or("idle", |last| states(last).1));
        }
    }

    #[test]
    fn no_window_holds_more_than_the_rate_allows(capabilities in capabilities(), acts in acts()) {
        let rate = capabilities.max_events_per_second;
        let told = tell(capabilities, &acts);
        let times: Vec<i64> = told.unforced.iter().map(|(when, _)| when.millis_since(START)).collect();
        prop_assert!(times.is_sorted());
        let Some(rate) = rate else { return Ok(()) };
        for (n, start) in times.iter().enumerate() {
            for (m, end) in times.iter().enumerate().skip(n) {
                let allowed = i64::from(rate) + (end - start) * i64::from(rate) / 1000;
                prop_assert!((m - n + 1) as i64 <= allowed, "{} in {} ms", m - n + 1, end - start);
            }
        }
    }

    #[test]
    fn low_cognitive_load_means_a_state_or_progress_every_two_seconds(acts in acts()) {
        let calm = Capabilities { cognitive_load: Some(CognitiveLoad::Low), ..Capabilities::default() };
        let told = tell(calm, &acts);
        let often = told.unforced.iter().filter(|(_, s)| STATE(&s.event.payload) || PROGRESS(&s.event.payload));
        let times: Vec<i64> = often.map(|(when, _)| when.millis_since(START)).collect();
        prop_assert!(times.is_sorted_by(|one, next| next - one >= 2000), "{:?}", times);
    }

    #[test]
    fn without_a_rate_and_with_every_boundary_the_stream_is_unchanged(acts in acts()) {
        let everything = Capabilities { coalesce_boundaries: Some(vec![Boundary::None]), ..Capabilities::default() };
        let told = tell(everything, &acts);
        for (session, said) in &told.said {
            let heard = &told.heard[session];
            prop_assert!(said.len() == heard.len() && said.iter().zip(heard).all(|(s, h)| Arc::ptr_eq(s, h)));
        }
    }

    #[test]
    fn excluded_events_are_never_delivered_and_the_rest_is_unchanged(acts in acts()) {
        let filters = EventFilters { include: None, exclude: Some(vec!["aaep:agent.output.*".into()]) };
        let told = tell_filtered(filters, &acts);
        for (session, said) in &told.said {
            let wanted: Vec<_> = said.iter().filter(|s| !TEXT(&s.event.payload)).map(|s| s.seq).collect();
            let heard: Vec<_> = told.heard.get(session).into_iter().flatten().map(|s| s.seq).collect();
            prop_assert_eq!(heard, wanted);
        }
    }
}

fn tell_filtered(filters: EventFilters, acts: &[(RowKey, i64, Act)]) -> Told {
    tell(Capabilities { event_filters: Some(filters), ..Capabilities::default() }, acts)
}
