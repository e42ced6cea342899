use super::*;
use serde_json::json;

fn asked(more: Value) -> View {
    let mut open = json!({
        "decision_id": "dec_1", "event_id": "evt_1", "session_id": "sess_1", "kind": "confirmation",
        "action": "Pay $82,000\u{1b}[2J to Acme", "consequence": "The money leaves", "words": "agent",
        "agent_id": "robot", "operator": "acme.example", "risk_level": "high", "irreversible": true,
        "default_decision": "reject", "language": "en", "asked_at": "2026-09-21T14:13:20Z",
        "deadline": "2026-09-21T14:23:20Z", "latest": "2026-09-21T14:23:20Z", "assurance": "token", "page": "p",
    });
    open.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    View::from(&serde_json::from_value::<OpenQuestion>(open).unwrap())
}

fn at(text: &str) -> UnixMillis {
    UnixMillis::parse_rfc3339(text).unwrap()
}

#[test]
fn a_confirmation_is_read_out_with_everything_that_decides_it() {
    let lines = asked(json!({})).lines("Question 1", at("2026-09-21T14:20:00Z"));
    let expected = [
        "Question 1 asks for your yes: Pay $82,000\u{fffd}[2J to Acme",
        "Consequence: The money leaves",
        "Asked by: an agent of acme.example",
        "Words: in the agent's own words, which nobody has checked",
        "Risk: high. This cannot be undone",
        "Time left: 3 minutes 20 seconds. Without an answer it is not done",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn what_the_service_rendered_and_what_would_run_unanswered_are_told_as_that() {
    let view = asked(json!({ "words": "owner", "default_decision": "accept", "operator": null, "irreversible": false,
        "risk_level": "low", "last_ran_at": "2026-09-20T00:00:00Z" }));
    let lines = view.lines("Question 2", at("2026-09-21T14:23:19Z"));
    for line in [
        "Asked by: the agent robot",
        "Words: rendered by the service from what will be sent",
        "Risk: low. This can be undone",
        "Ran before: exactly this last ran at 2026-09-20T00:00:00Z",
        "Time left: 1 second. Without an answer it will be done",
    ] {
        assert!(lines.iter().any(|told| told == line), "{line}: {lines:?}");
    }
}

#[test]
fn a_clarification_is_read_out_with_its_numbered_choices() {
    let view = asked(json!({ "kind": "clarification", "action": null, "consequence": null, "risk_level": null,
        "question": "Which one?", "accepted_response_kinds": ["multiple_choice"],
        "choices": [{ "value": "a", "label": "London" }, { "value": "b", "label": "Lagos" }] }));
    let lines = view.lines("Question 1", at("2026-09-21T14:13:20Z"));
    assert_eq!(lines[0], "Question 1 asks: Which one?");
    assert!(lines.contains(&"Choice 2: Lagos".to_owned()), "{lines:?}");
    assert_eq!(view.how("1"), "To answer: 1 and one of its choices. For more time: 1 more");
}

#[test]
fn a_duration_is_words() {
    let told: Vec<String> = [0, 1, 59, 60, 61, 3600, 7265].map(duration).to_vec();
    let expected = ["none", "1 second", "59 seconds", "1 minute", "1 minute 1 second", "1 hour", "2 hours 1 minute"];
    assert_eq!(told, expected);
}

/// WWA-6.2-06
#[test]
fn what_was_clarified_before_is_read_out_with_whose_answer_it_is() {
    let answer = |answer: &str, by: &str| json!({ "field": "from", "question": "?", "answer": answer, "given_by": by });
    let clarified = json!({ "answers": [answer("main\u{1b}", "person"), answer("accept", "own")], "more": 3 });
    let lines = asked(json!({ "clarification": clarified })).lines("Question 1", at("2026-09-21T14:20:00Z"));
    let expected = [
        "Clarified: from: “main\u{fffd}”, answered by a person",
        "Clarified: from: “accept”, the agent's own answer",
        "Clarified: and 3 more",
    ];
    assert_eq!(lines.get(2..5).unwrap(), expected);
}
