//! Validators in other languages run as long-lived processes; their verdicts count only while they respond.

use super::documents::{self, ID};
use crate::mplp_judge::{foreign::ForeignJudge, foreign_verdicts};
use serde_json::{Value, json};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    process::Command,
};

#[test]
fn every_judge_refuses_the_spoiled_document_and_no_other_however_often_it_is_asked() {
    let sound = documents::document("confirm");
    let spoiled = |member: &str, value: Value| {
        let mut document = sound.clone();
        document[member] = value;
        ("confirm", document)
    };
    let not_a_time = spoiled("requested_at", json!("yesterday"));
    let not_an_id = spoiled("confirm_id", json!(format!("{ID}0")));
    let documents = [("confirm", sound.clone()), not_a_time, ("confirm", sound.clone()), not_an_id];
    for _ in 0..3 {
        for (judge, verdicts) in foreign_verdicts(&documents) {
            assert_eq!(verdicts, [true, false, true, false], "{judge}");
        }
    }
}

/// A request is one line, and some line readers split at these characters.
#[test]
fn a_text_with_ends_of_lines_in_it_is_judged_as_one_document() {
    let mut document = documents::document("confirm");
    document["reason"] = json!("one\ntwo\r\nthree\rfour\u{2028}five\u{2029}six\u{85}seven");
    for (judge, verdicts) in foreign_verdicts(&[("confirm", document)]) {
        assert_eq!(verdicts, [true], "{judge}");
    }
}

#[test]
fn a_judge_that_ends_is_an_error_for_every_caller() {
    let judge = scripted("read -r schemas; echo '[]'; read -r cases; exit 3");
    let refused = failure(|| judge.verdicts(&[json!({})]));
    assert!(refused.starts_with("a judge ended instead of answering: exit status: 3"), "{refused}");
    assert_eq!(failure(|| judge.verdicts(&[json!({})])), "a judge failed before");
}

#[test]
fn a_judge_that_ends_within_its_answer_has_not_answered() {
    let judge = scripted("read -r schemas; echo '[]'; read -r cases; printf '[true]'");
    assert!(failure(|| judge.verdicts(&[json!({})])).contains("ended instead of answering"));
}

#[test]
fn a_judge_with_fewer_verdicts_than_cases_is_not_believed() {
    let judge = scripted("read -r schemas; echo '[]'; read -r cases; echo '[true]'; read -r more; echo '[true]'");
    assert!(failure(|| judge.verdicts(&[json!({}), json!({})])).contains("not a verdict a case"));
    assert_eq!(failure(|| judge.verdicts(&[json!({})])), "a judge failed before");
}

#[test]
fn a_judge_that_cannot_take_the_schemas_does_not_start() {
    assert!(failure(|| scripted("exit 1")).contains("ended instead of answering"));
}

fn scripted(script: &str) -> ForeignJudge {
    let mut shell = Command::new("sh");
    shell.args(["-c", script]);
    ForeignJudge::start("a judge", shell, &[])
}

/// The message of a panic.
fn failure<T>(question: impl FnOnce() -> T) -> String {
    match catch_unwind(AssertUnwindSafe(question)) {
        Ok(_) => panic!("it was believed"),
        Err(words) => *words.downcast::<String>().expect("words"),
    }
}
