use super::*;
use crate::aaep::{
    Inbox, Trust,
    testing::{Producer, at, received},
};
use serde_json::json;
use std::sync::Arc;

const SUBSCRIPTION: &str = "sub_1";

fn question(event: &Value) -> Arc<ReceivedQuestion> {
    let mut inbox = Inbox::new(Trust::default());
    inbox.apply(&received(event), at(0));
    Arc::clone(inbox.questions().next().unwrap())
}

fn clarification(more: Value) -> Arc<ReceivedQuestion> {
    question(&Producer::foreign().clarification(0, more))
}

fn yes() -> Answer {
    Answer::Approve { rationale: None }
}

fn response(question: &ReceivedQuestion, typed: &str) -> Result<Value, NotAnAnswer> {
    Ok(question.reply(&question.read_answer(typed)?, SUBSCRIPTION, at(1))?["response"].clone())
}

#[test]
fn nothing_is_sent_once_the_time_is_over() {
    let asked = question(&Producer::ours().confirmation(1, 0, "rpl_A"));
    assert_eq!(asked.reply(&yes(), SUBSCRIPTION, at(120)), Err(NotAnAnswer::TooLate));
    assert!(asked.reply(&yes(), SUBSCRIPTION, UnixMillis(at(120).0 - 1)).is_ok());
}

#[test]
fn an_answer_that_the_question_does_not_take_is_not_sent() {
    let mut only_no = Producer::foreign().confirmation(1, 0, "rpl_A");
    only_no["allowed_replies"] = json!(["reject"]);
    let only_no = question(&only_no);
    assert_eq!(only_no.reply(&yes(), SUBSCRIPTION, at(1)), Err(NotAnAnswer::NotAllowed("an approval")));
    assert!(only_no.reply(&Answer::Reject { reason: None }, SUBSCRIPTION, at(1)).is_ok());
    assert_eq!(only_no.read_answer("perhaps"), Err(NotAnAnswer::ApproveOrReject));
    for (typed, answer) in
        [("Reject", Answer::Reject { reason: None }), ("no", Answer::Reject { reason: None }), ("approve", yes())]
    {
        assert_eq!(only_no.read_answer(typed), Ok(answer), "{typed}");
    }
    assert!(clarification(json!({})).reply(&yes(), SUBSCRIPTION, at(1)).is_err());
    let too_long = Answer::Reject { reason: Some("x".repeat(4097)) };
    assert!(matches!(only_no.reply(&too_long, SUBSCRIPTION, at(1)), Err(NotAnAnswer::Unsendable(_))));
}

/// AAEP-6.2.3-01, AAEP-6-02
#[test]
fn a_token_is_echoed_byte_for_byte_in_a_reply_of_the_closed_schema() {
    for token in ["rpl_a".to_owned(), format!("rpl_{}", "aB9".repeat(22).split_at(64).0), "rpl_AbCdEfZ0".into()] {
        let asked = question(&Producer::foreign().confirmation(1, 0, &token));
        let no = Answer::Reject { reason: Some("too much".into()) };
        let reply = asked.reply(&no, SUBSCRIPTION, at(1)).unwrap();
        let expected = json!({ "type": "confirmation.reply", "reply_token": token, "decision": "reject",
            "subscription_id": SUBSCRIPTION, "timestamp": "2026-09-21T14:13:21.000Z", "decision_rationale": "too much" });
        assert_eq!(reply, expected);
        let mut asked = Producer::foreign().clarification(0, json!({}));
        asked["reply_token"] = json!(token);
        let reply = question(&asked).reply(&Answer::Response(Response::Text("x".into())), SUBSCRIPTION, at(1)).unwrap();
        assert_eq!(reply["reply_token"], json!(token));
        assert_eq!(reply.as_object().unwrap().len(), 5);
    }
}

/// AAEP-6.2.3-03
#[test]
fn a_token_is_not_in_the_debug_text_of_a_question() {
    let asked = question(&Producer::ours().confirmation(1, 0, "rpl_Hidden"));
    assert!(!format!("{asked:?}").contains("rpl_"), "{asked:?}");
}

/// AAEP-6-02
#[test]
fn typed_text_becomes_the_kind_that_the_question_takes() {
    let choices = json!([{ "value": "lhr", "label": "London" }, { "value": "2", "label": "Lagos" }]);
    let taking = |kinds: &[&str]| clarification(json!({ "accepted_response_kinds": kinds }));
    let choosing = |kinds: &[&str]| clarification(json!({ "accepted_response_kinds": kinds, "choices": choices }));
    assert_eq!(response(&clarification(json!({})), " yes "), Ok(json!("yes")), "text where nothing is said");
    assert_eq!(response(&taking(&["yes_no"]), "No"), Ok(json!(false)));
    assert_eq!(response(&taking(&["numeric"]), "67"), Ok(json!(67)));
    assert_eq!(response(&taking(&["numeric"]), "0.5"), Ok(json!(0.5)));
    for (typed, value) in [("lhr", "lhr"), ("london", "lhr"), ("1", "lhr"), ("2", "2")] {
        assert_eq!(response(&choosing(&["multiple_choice"]), typed), Ok(json!(value)), "{typed}");
    }
    assert_eq!(response(&choosing(&["multiple_choice", "numeric"]), "1"), Ok(json!(1)));
    for (kinds, typed) in [(["yes_no"], "67"), (["numeric"], "NaN"), (["numeric"], "many"), (["freetext"], "  ")] {
        assert!(matches!(response(&taking(&kinds), typed), Err(NotAnAnswer::OtherKind(_))), "{kinds:?} {typed}");
    }
    assert!(matches!(response(&choosing(&["multiple_choice"]), "Paris"), Err(NotAnAnswer::OtherKind(_))));
}
