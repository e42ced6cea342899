//! Replies, handshake and manifest against the schemas.

use super::documents::{self, MESSAGES};
use crate::judge;
use countersign_protocol::{
    aaep::{
        event::YesNo,
        manifest::Manifest,
        reply::{self, ClarificationReply, ConfirmationReply, Reply, Response},
    },
    time::UnixMillis,
};
use serde_json::{Value, json};

#[test]
fn every_judge_accepts_every_kind_of_message() {
    for name in MESSAGES {
        judge::judge_message(name, &documents::message(name));
    }
}

/// AAEP-6-02
#[test]
fn the_replies_that_we_write_and_read_are_sound_by_the_published_schemas() {
    for reply in replies() {
        let written = serde_json::to_value(&reply).unwrap();
        judge::judge_message(written["type"].as_str().unwrap(), &written);
        assert_eq!(reply::parse(&written, false).unwrap(), reply);
    }
}

/// AAEP-6-02
#[test]
fn no_reply_is_read_that_the_published_schemas_refuse() {
    for reply in replies() {
        let sound = serde_json::to_value(&reply).unwrap();
        let name = sound["type"].as_str().unwrap().to_owned();
        let mut spoiled = vec![with(&sound, "motto", json!("first, ask")), with(&sound, "type", json!("reply"))];
        for required in ["type", "reply_token", "subscription_id", "timestamp"] {
            spoiled.push(without(&sound, required));
        }
        spoiled.push(without(&sound, if name == "confirmation.reply" { "decision" } else { "response" }));
        let wrong = match name.as_str() {
            "confirmation.reply" => {
                [("decision", json!("maybe")), ("decision_rationale", json!("")), ("modified_action", json!("no"))]
            }
            _ => [("response", json!(["a", "b"])), ("confidence", json!(1.5)), ("decided_by", json!(""))],
        };
        let everywhere = [
            ("reply_token", json!("rpl_")),
            ("reply_token", json!("token")),
            ("subscription_id", json!("sub-1")),
            ("timestamp", json!("yesterday")),
            ("correlation_id", json!(7)),
        ];
        spoiled.extend(wrong.into_iter().chain(everywhere).map(|(member, value)| with(&sound, member, value)));
        for spoiled in spoiled {
            assert!(!judge::problems(&name, &spoiled).is_empty(), "the schemas take {spoiled}");
            assert!(reply::parse(&spoiled, false).is_err(), "{spoiled}");
        }
    }
}

fn with(document: &Value, member: &str, value: Value) -> Value {
    documents::with(document.clone(), member, value)
}

fn without(document: &Value, member: &str) -> Value {
    let mut less = document.clone();
    less.as_object_mut().unwrap().remove(member);
    less
}

fn replies() -> Vec<Reply> {
    let timestamp = UnixMillis(1_794_744_000_250);
    let confirmation = |decision| {
        Reply::Confirmation(ConfirmationReply {
            reply_token: "rpl_aZ09".into(),
            decision,
            subscription_id: Some("sub_1".into()),
            timestamp,
            decided_by: None,
            decision_rationale: Some("Too dear.".into()),
            modified_action: None,
            correlation_id: None,
        })
    };
    let clarification = |response| {
        Reply::Clarification(ClarificationReply {
            reply_token: "rpl_aZ09".into(),
            response,
            subscription_id: Some("sub_1".into()),
            timestamp,
            decided_by: Some("user:folake".into()),
            confidence: serde_json::Number::from_f64(0.5),
            correlation_id: Some("x".into()),
        })
    };
    let answers = [Response::Text("67".into()), Response::Bool(false), Response::Number(67.into())];
    [YesNo::Accept, YesNo::Reject].map(confirmation).into_iter().chain(answers.map(clarification)).collect()
}

#[test]
fn the_manifest_survives_being_read_and_written() {
    let manifest = documents::message("producer.manifest");
    let read = Manifest::parse(manifest.to_string().as_bytes()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), manifest);
    assert_eq!(read.countersign.unwrap().path_prefix, "/aaep/v1");
    let more = documents::with(manifest, "motto", json!("first, ask"));
    assert!(Manifest::parse(more.to_string().as_bytes()).is_ok(), "unknown members are ignored");
}
