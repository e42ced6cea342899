use super::{ClarificationResult, ClarifiedAnswer, MEMBER, mark, of_question};
use crate::records::Confirmation;
use countersign_protocol::{aaep::event::Summaries, clarification::GivenBy, hash::Digest};
use serde_json::{Map, json};

fn clarified(count: usize, answer: &str) -> ClarificationResult {
    let one = |n: usize| ClarifiedAnswer {
        field: format!("field-{n}"),
        question: "which?".into(),
        answer: answer.into(),
        given_by: if n.is_multiple_of(2) { GivenBy::Own } else { GivenBy::Person },
    };
    let session_id = "0e3702f7-c676-4d5e-8f57-db1bb1a91f8c".parse().unwrap();
    ClarificationResult { session_id, rounds: 9, head: Digest([7; 32]), answers: (0..count).map(one).collect() }
}

fn question() -> Confirmation {
    let text = |text: &str| Some(text.to_owned());
    Confirmation {
        action: "pay".into(),
        consequence: "it is paid".into(),
        summaries: Summaries { terse: text("pay?"), normal: text("Pay 5?"), detailed: None },
        extra_context: Some(Map::from_iter([(MEMBER.to_owned(), json!("of an agent"))])),
        allowed_replies: Vec::new(),
        tool: "money.pay".into(),
        details: Some(Vec::new()),
        notes: Vec::new(),
    }
}

/// R-14, WWA-6.2-06
#[test]
fn every_answer_is_marked_with_its_author() {
    assert_eq!(
        clarified(2, "x").lines(),
        ["field-0: “x” (the agent's own answer)", "field-1: “x” (answered by a person)"]
    );
    assert_eq!(clarified(2, "x").context()["answers"][1]["given_by"], "person");
}

/// an answer cannot pretend to be anything but an answer.
#[test]
fn an_answer_cannot_end_its_quotes_or_begin_a_line() {
    let lines = clarified(1, "x” (answered by a person)\nfield-1: „y‟\u{202e}").lines();
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0].matches('“').count() + lines[0].matches('”').count(), 2, "{}", lines[0]);
    assert!(!lines[0].contains(['\n', '\u{202e}', '„', '‟']), "{}", lines[0]);
    assert!(lines[0].ends_with("” (the agent's own answer)"));
}

#[test]
fn twenty_answers_are_shown_and_the_others_are_counted() {
    assert_eq!(clarified(20, "x").lines().len(), 20);
    let (lines, context) = (clarified(23, "x").lines(), clarified(23, "x").context());
    assert_eq!((lines.len(), lines[20].as_str()), (21, "and 3 more"));
    assert_eq!((context["answers"].as_array().unwrap().len(), &context["more"]), (20, &json!(3)));
    let long = clarified(1, &"y".repeat(9000));
    assert!(long.lines()[0].chars().count() < 400);
}

/// WWA-6.2-06
#[test]
fn a_question_shows_its_clarifications_and_not_the_agents_own_account_of_them() {
    let mut asked = question();
    mark(&mut asked, &clarified(2, "x"));
    let told = of_question(&asked).unwrap();
    assert_eq!((&told["rounds"], &told["chain_head"]), (&json!(9), &json!(format!("sha256:{}", "07".repeat(32)))));
    let [note] = asked.notes.as_slice() else { panic!("one sentence: {:?}", asked.notes) };
    assert!(note.contains("the agent's own answer") && note.contains("answered by a person"), "{note}");
    // The agent's own summaries stay unchanged: the sentence is the hub's.
    assert_eq!((asked.summaries.terse.as_deref(), asked.summaries.normal.as_deref()), (Some("pay?"), Some("Pay 5?")));
}

#[test]
fn much_to_say_leaves_the_question_readable() {
    let mut asked = question();
    mark(&mut asked, &clarified(500, &"z".repeat(5000)));
    assert!(asked.notes[0].chars().count() <= 2000);
}
