use super::*;
use serde_json::json;

fn yes() -> Value {
    json!({ "type": "confirmation.reply", "reply_token": "rpl_1", "decision": "accept", "subscription_id": "sub_1",
        "timestamp": "2026-11-15T12:00:00.000Z" })
}

fn answer(response: Value) -> Value {
    json!({ "type": "clarification.reply", "reply_token": "rpl_1", "response": response, "subscription_id": "sub_1",
        "timestamp": "2026-11-15T12:00:00.000Z" })
}

fn with(mut reply: Value, member: &str, value: Value) -> Value {
    reply[member] = value;
    reply
}

#[track_caller]
fn refused(reply: &Value, member: &str) {
    assert_eq!(parse(reply, false).unwrap_err().member, member, "{reply}");
}

#[test]
fn a_reply_that_lacks_a_member_or_has_one_more_is_refused() {
    for reply in [yes(), answer(json!("x"))] {
        for member in reply.as_object().unwrap().keys() {
            let mut less = reply.clone();
            less.as_object_mut().unwrap().remove(member);
            refused(&less, member);
        }
        refused(&with(reply, "extensions", json!({})), "message");
    }
    refused(&with(yes(), "confidence", json!(1)), "message");
    refused(&with(answer(json!("x")), "decision", json!("accept")), "message");
    refused(&json!([]), "message");
}

#[test]
fn values_that_the_protocol_does_not_have_are_refused() {
    for (member, wrong) in [
        ("type", json!("confirmation.answer")),
        ("type", json!(null)),
        ("reply_token", json!("rpl_")),
        ("reply_token", json!("rpl_1\n")),
        ("decision", json!("snooze")),
        ("decision", json!(true)),
        ("subscription_id", json!("evt_1")),
        ("timestamp", json!("yesterday")),
        ("timestamp", json!(1_794_744_000)),
        ("decided_by", json!("")),
        ("decided_by", json!("x".repeat(257))),
        ("decision_rationale", json!("")),
        ("decision_rationale", json!("x".repeat(4097))),
        ("modified_action", json!("pay less")),
        ("correlation_id", json!(7)),
    ] {
        refused(&with(yes(), member, wrong), member);
    }
}

#[test]
fn an_answer_is_a_text_a_boolean_or_a_number() {
    for wrong in [json!(null), json!([]), json!({}), json!(""), json!("x".repeat(16385))] {
        refused(&answer(wrong), "response");
    }
    for (response, read) in [
        (json!("67"), Response::Text("67".into())),
        (json!("x".repeat(16384)), Response::Text("x".repeat(16384))),
        (json!(false), Response::Bool(false)),
        (json!(67), Response::Number(67.into())),
        (json!(6.5), Response::Number(Number::from_f64(6.5).unwrap())),
    ] {
        let Reply::Clarification(reply) = parse(&answer(response), false).unwrap() else { panic!("another reply") };
        assert_eq!(reply.response, read);
    }
    for wrong in [json!(1.5), json!(-0.1), json!("high")] {
        refused(&with(answer(json!("x")), "confidence", wrong), "confidence");
    }
    for right in [json!(0), json!(0.5), json!(1)] {
        assert!(parse(&with(answer(json!("x")), "confidence", right), false).is_ok());
    }
}

#[test]
fn the_refusal_is_the_same_for_every_member_of_the_token() {
    let refusal = |token: &str| parse(&with(with(yes(), "reply_token", json!(token)), "decision", json!("x")), false);
    assert_eq!(refusal("rpl_live").unwrap_err(), refusal("rpl_invented").unwrap_err());
}

#[test]
fn clients_of_the_legacy_paths_know_of_no_subscription() {
    let mut bare = yes();
    bare.as_object_mut().unwrap().remove("subscription_id");
    for reply in [bare, with(yes(), "subscription_id", json!("unknown-7")), with(yes(), "subscription_id", json!(null))]
    {
        refused(&reply, "subscription_id");
        assert_eq!(parse(&reply, true).unwrap().subscription_id(), None);
    }
    assert_eq!(parse(&yes(), true).unwrap().subscription_id(), Some("sub_1"));
    assert_eq!(parse(&with(yes(), "decision", json!("x")), true).unwrap_err().member, "decision");
}

#[test]
fn microseconds_and_offsets_are_read() {
    for text in ["2026-11-15T12:00:00.915170Z", "2026-11-15T13:00:00.915170+01:00", "2026-11-15T12:00:00.9151709Z"] {
        let reply = parse(&with(yes(), "timestamp", json!(text)), false).unwrap();
        assert_eq!(reply.timestamp(), UnixMillis(1_794_744_000_915), "{text}");
        assert_eq!(serde_json::to_value(&reply).unwrap()["timestamp"], "2026-11-15T12:00:00.915Z");
    }
}

#[test]
fn the_claims_of_a_reply_are_readable() {
    let claims = json!({ "decided_by": "user:folake", "correlation_id": "trace", "modified_action": { "amount": 4 } });
    let mut reply = yes();
    reply.as_object_mut().unwrap().extend(claims.as_object().unwrap().clone());
    let reply = parse(&reply, false).unwrap();
    assert_eq!(
        (reply.reply_token(), reply.decided_by(), reply.correlation_id()),
        ("rpl_1", Some("user:folake"), Some("trace"))
    );
    let Reply::Confirmation(reply) = reply else { panic!("another reply") };
    assert_eq!((reply.decision, reply.modified_action.unwrap()["amount"].clone()), (YesNo::Accept, json!(4)));
}
