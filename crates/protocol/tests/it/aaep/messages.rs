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
use serde_json::json;

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
