use super::*;
use crate::aaep::{
    Inbox, Trust,
    testing::{Producer, at, described, received},
};
use serde_json::{Value, json};

fn speech(events: &[Value]) -> Vec<String> {
    let (mut inbox, mut speech) = (Inbox::new(Trust::default()), Speech::default());
    events.iter().for_each(|event| speech.push(inbox.apply(&received(event), at(0))));
    described(&std::iter::from_fn(|| speech.next_announcement()).collect::<Vec<_>>())
}

/// AAEP-SCHEMA-09
#[test]
fn a_question_goes_before_everything_that_waits_and_its_end_after_it() {
    let mut producer = Producer::ours();
    let events = [
        producer.state_change(1, 0, "idle", "thinking"),
        producer.event(2, 0, "tool.completed", json!({ "tool": "t", "status": "success", "summary_normal": "Done." })),
        producer.confirmation(3, 0, "rpl_A"),
        producer.settlement(3, 1, "rpl_A", "accepted"),
        producer.confirmation(1, 1, "rpl_B"),
    ];
    assert_eq!(
        speech(&events),
        ["asked evt_3", "over evt_3 accepted", "asked evt_5", "said Now thinking.", "said Done."]
    );
}

/// AAEP-6.9-05
#[test]
fn of_a_sessions_state_and_progress_only_the_latest_is_delivered_and_its_output_is_joined() {
    let mut producer = Producer::foreign();
    let chunk = |text: &str| json!({ "chunk": text, "position": 0, "complete": false });
    let events = [
        producer.event(1, 0, "output.streaming", chunk("Good ")),
        producer.state_change(2, 0, "idle", "thinking"),
        producer.event(1, 0, "output.streaming", chunk("morning.")),
        producer.state_change(2, 0, "thinking", "deciding"),
        producer.progress(3, 0, 10),
        producer.progress(3, 0, 20),
    ];
    assert_eq!(speech(&events), ["said Good morning.", "said Now deciding.", "said 20 percent"]);
}

#[test]
fn nothing_is_folded_over_a_message_of_the_same_session() {
    let mut producer = Producer::foreign();
    let done = json!({ "tool": "t", "status": "success", "summary_normal": "Done." });
    let events =
        [producer.progress(1, 0, 10), producer.event(1, 0, "tool.completed", done), producer.progress(1, 0, 20)];
    assert_eq!(speech(&events), ["said 10 percent", "said Done.", "said 20 percent"]);
}
