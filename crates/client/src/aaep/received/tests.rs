use super::*;
use crate::aaep::testing::{Producer, received};

#[test]
fn a_message_that_is_no_event_is_reported_and_not_repeated() {
    for text in
        ["", "nonsense rpl_secret", "[]", "{}", "{\"type\":\"x\"}", "{\"type\":\"aaep:agent.awaiting.confirmation\"}"]
    {
        assert_eq!(Received::read(text), Err(NotAnEvent), "{text}");
    }
    assert!(!NotAnEvent.to_string().contains("rpl"));
}

/// AAEP-6.9-06
#[test]
fn a_question_is_understood_with_missing_and_with_additional_members() {
    let mut asked = Producer::foreign().confirmation(1, 0, "rpl_A");
    let members = asked.as_object_mut().unwrap();
    members.remove("urgency");
    members.insert("type".into(), json!("https://aaep-protocol.org/types/agent.awaiting.confirmation"));
    members.insert("timeout_seconds".into(), json!(60.0));
    members.insert("novelty".into(), json!({ "a": 1 }));
    members.insert("allowed_replies".into(), json!(["accept", "reject", "maybe"]));
    members.insert("localization_hints".into(), json!({ "primary_language": "yo", "novelty": true }));
    members.insert("producer".into(), json!({ "agent_id": "acme.example", "novelty": 1 }));
    let Received::Event(event) = received(&asked) else { panic!() };
    assert!(matches!(&event.payload, Payload::AwaitingConfirmation(asked) if asked.timeout_seconds == 60));
    assert_eq!(urgency(&event), Urgency::Critical);
}

/// AAEP-6.9-06
#[test]
fn a_critical_event_that_cannot_be_understood_is_still_read_out() {
    let mut asked = Producer::foreign().confirmation(1, 0, "rpl_A");
    asked["default_decision"] = json!("perhaps");
    asked["summary_normal"] = json!("Shall I\u{202e} pay?");
    let Received::Other(other) = received(&asked) else { panic!() };
    assert_eq!((other.urgency, other.summary.as_deref()), (Urgency::Critical, Some("Shall I[U+202E] pay?")));
}

#[test]
fn an_event_of_another_vocabulary_has_its_summary_read_out() {
    let mut event = Producer::foreign().state_change(1, 0, "a", "b");
    event["type"] = json!("org_example:weather.changed");
    let Received::Other(other) = received(&event) else { panic!() };
    assert_eq!((other.type_name.as_str(), other.summary.as_deref()), ("org_example:weather.changed", Some("Now b.")));
}

#[test]
fn a_close_is_no_event() {
    let close =
        r#"{"type":"subscription.close","subscription_id":"sub_1","reason_code":"too_slow","reason_message":"m"}"#;
    let closed = Received::Closed { reason_code: "too_slow".into(), reason_message: "m".into() };
    assert_eq!(Received::read(close), Ok(closed));
}
