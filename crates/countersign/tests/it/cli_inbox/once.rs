//! Commands that do one thing and exit.

use super::Asked;
use crate::cli_folder::Folder;
use serde_json::{Value, json};

#[test]
fn without_a_token_or_a_service_it_names_the_missing_part() {
    let folder = Folder::new("inbox-nothing");
    let ran = folder.run("inbox list").refused();
    assert!(ran.err.starts_with("error: there is no token\nhint: set COUNTERSIGN_TOKEN"), "{}", ran.err);
    let there = [("COUNTERSIGN_TOKEN", "cst_0"), ("COUNTERSIGN_SERVICE", "http://127.0.0.1:1")];
    for arguments in ["inbox list", "inbox answer dec_0 yes", "inbox"] {
        let ran = folder.run_with(arguments, &there).refused();
        assert!(
            ran.err.contains("could not be reached") && ran.err.contains("hint: is the service running"),
            "{}",
            ran.err
        );
    }
    for arguments in ["inbox --service ftp://x list", "inbox --unknown refuse list", "inbox answer dec_0 maybe"] {
        assert_eq!(folder.run_with(arguments, &there).code, 2, "{arguments}");
    }
    assert!(folder.is_empty());
}

/// AAEP-6.2.4-01
#[test]
fn a_token_that_was_taken_back_hears_and_answers_nothing() {
    let asked = Asked::new("revoked");
    let id = asked.asks("Write to Sam");
    let tokens = asked.folder.json("token list");
    asked.folder.does(&format!("token revoke {}", tokens[0]["id"].as_str().unwrap()));
    for arguments in [vec!["list"], vec!["answer", &id, "yes"], vec!["more-time", &id], vec!["undo", &id]] {
        let ran = asked.inbox(&arguments, &[]);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{arguments:?}");
        assert!(ran.err.contains("the token may have been revoked"), "{}", ran.err);
    }
    assert_eq!(asked.decision(&id)["state"], "pending");
}

/// AAEP-6.2.4-03
#[test]
fn a_token_that_only_listens_hears_the_question_and_answers_nothing() {
    let mut asked = Asked::new("reads-only");
    let id = asked.asks("Write to Sam");
    let made = asked.folder.json("token add --person alice --name speaker --reads-only");
    asked.token = made["secret"].as_str().unwrap().to_owned();
    assert!(asked.inbox(&["list"], &[]).out.contains("Write to Sam"));
    for arguments in [vec!["answer", &id, "yes"], vec!["more-time", &id], vec!["undo", &id]] {
        let ran = asked.inbox(&arguments, &[]);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{arguments:?}");
        assert!(ran.err.contains("only listens"), "{}", ran.err);
    }
    assert_eq!(asked.decision(&id)["state"], "pending");
}

#[test]
fn a_question_that_is_not_there_is_not_answered() {
    let asked = Asked::new("unknown");
    for arguments in [["answer", "dec_0", "yes"], ["respond", "dec_0", "x"]] {
        let ran = asked.inbox(&arguments, &[]);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{arguments:?}");
        assert!(ran.err.starts_with("error: there is no such pending question\nhint: "), "{}", ran.err);
    }
    let ran = asked.inbox(&["more-time", "dec_0"], &[]);
    assert!(ran.code == 1 && ran.err.contains("there is no such question"), "{}", ran.err);
    let ran = asked.inbox(&["undo", "dec_0"], &[]);
    assert!(ran.code == 1 && ran.err.contains("there is no such question"), "{}", ran.err);
    assert_eq!(asked.inbox(&["list"], &[]).out, "No pending questions.\n");
}

///
#[test]
fn an_answer_that_needs_more_proof_than_a_token_is_not_sent_and_the_page_is_named() {
    let asked = Asked::new("proof");
    let body = json!({ "action": "Pay", "consequence": "Gone", "tool": "payments.send", "arguments": {} });
    let id = asked.agent("POST", "/v1/confirmations", &body)["decision_id"].as_str().unwrap().to_owned();
    let ran = asked.inbox(&["answer", &id, "yes"], &[]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.contains("needs more proof than a token: fresh"), "{}", ran.err);
    assert!(ran.err.contains(&format!("/inbox/payments/{id}")), "{}", ran.err);
    assert_eq!(asked.decision(&id)["state"], "pending");
}

/// AAEP-6-02
#[test]
fn approve_and_reject_settle_a_question_once_and_the_agent_gets_the_reason() {
    let asked = Asked::new("answer");
    let (first, second) = (asked.asks("Write to Sam"), asked.asks("Write to Kim"));
    let ran = asked.inbox(&["answer", &first, "approve"], &[]);
    assert_eq!((ran.code, ran.out.as_str()), (0, format!("question {first} was approved\n").as_str()), "{}", ran.err);
    assert_eq!(asked.decision(&first)["state"], "accepted");
    let ran = asked.inbox(&["answer", &second, "reject", "--reason", "not today", "--json"], &[]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(told, json!({ "id": second, "ending": "rejected", "counted": true }));
    let decision = asked.decision(&second);
    assert_eq!((&decision["state"], &decision["reason"]), (&json!("rejected"), &json!("not today")));
    assert_eq!(asked.inbox(&["answer", &first, "reject"], &[]).code, 1, "it is settled");
    for (word, state) in [("yes", "accepted"), ("no", "rejected")] {
        let asked_again = asked.asks(&format!("Write to {word}"));
        assert_eq!(asked.inbox(&["answer", &asked_again, word], &[]).code, 0, "{word} is still understood");
        assert_eq!(asked.decision(&asked_again)["state"], state);
    }
}

#[test]
fn a_clarification_is_answered_in_the_kind_that_it_takes() {
    let asked = Asked::new("respond");
    let choices = json!([{ "value": "lon", "label": "London" }, { "value": "lag", "label": "Lagos" }]);
    let id = asked.clarifies(&json!({ "accepted_response_kinds": ["multiple_choice"], "choices": choices }));
    let ran = asked.inbox(&["respond", &id, "Paris"], &[]);
    assert!(ran.code == 1 && ran.err.contains("this question takes one of its choices"), "{}", ran.err);
    let ran = asked.inbox(&["answer", &id, "yes"], &[]);
    assert!(ran.code == 1 && ran.err.contains("takes one of its choices"), "{}", ran.err);
    assert_eq!(asked.inbox(&["respond", &id, "lagos"], &[]).code, 0);
    assert_eq!(asked.decision(&id)["response"], "lag");
}

#[test]
fn pending_questions_are_listed_with_every_member_that_decides_them() {
    let asked = Asked::new("list");
    let id = asked.asks("Write to Sam");
    let ran = asked.inbox(&["list"], &[]);
    for part in [
        "Question 1 needs your approval: “Write to Sam”.\n",
        "Consequence: “It is gone”.\n",
        "Requested by: the agent bot.\n",
        "Text: the agent's own words, which nobody has checked.\n",
        "Risk: low. This cannot be undone.\n",
        "Time left: ",
        &format!("Id: {id}\n"),
    ] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    let listed: Value = serde_json::from_str(&asked.inbox(&["list", "--json"], &[]).out).unwrap();
    assert_eq!(
        (&listed["id"], &listed["action"], &listed["words"]),
        (&json!(id), &json!("Write to Sam"), &json!("agent"))
    );
    assert!(!ran.out.contains("rpl_") && !listed.to_string().contains("rpl_"));
}

///
#[test]
fn everything_that_runs_is_listed_and_nothing_of_it_hides_or_moves_the_cursor() {
    let asked = Asked::new("list-hostile");
    let hostile = "\u{410}cme\u{202e}\u{1b}[2J\u{200b}”.\nRisk: low. This can be undone";
    let body = json!({ "action": format!("Say hello{hostile}"), "consequence": "Nothing.", "tool": "mail.send",
        "arguments": { "to": hostile, "copies": { "all": true } }, "timeout_seconds": 600 });
    asked.agent("POST", "/v1/confirmations", &body);
    let unseen = |text: &str| text.contains(['\u{202e}', '\u{1b}', '\u{200b}']);
    let listed = asked.inbox(&["list"], &[]).out;
    assert!(!unseen(&listed), "{listed}");
    for line in ["Tool: mail.send.", "Tool argument copies.all: true.", "Consequence: “Nothing.”"] {
        assert!(listed.lines().any(|told| told == line), "{line}: {listed}");
    }
    let to = listed.lines().find(|line| line.starts_with("Tool argument to: “")).expect("its argument");
    assert!(to.contains("[U+0410]cme[U+202E]") && to.contains("[U+200B][U+201D].") && to.ends_with("undone”."), "{to}");
    assert!(
        listed.contains("\nBeware: “") && listed.contains("has letters of another alphabet: U+0410.\n"),
        "{listed}"
    );
    assert_eq!(listed.lines().filter(|line| line.starts_with("Risk: ")).count(), 1, "{listed}");
    assert!(!listed.contains("..\n"), "{listed}");
    let json = asked.inbox(&["list", "--json"], &[]).out;
    assert!(!unseen(&json), "{json}");
    let read: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&read["runs"]["tool"], read["runs"]["details"].as_array().unwrap().len()), (&json!("mail.send"), 2));
    assert!(read["action"].as_str().unwrap().ends_with(hostile), "a program reads what was sent");
}

///
#[test]
fn two_questions_that_read_the_same_are_distinguished() {
    let asked = Asked::new("list-alike");
    for to in ["sam", "kim"] {
        let body = json!({ "action": "Write a letter", "consequence": "It is gone", "tool": "mail.send",
            "arguments": { "to": to, "text": "Hello" }, "timeout_seconds": 600 });
        asked.agent("POST", "/v1/confirmations", &body);
    }
    let listed = asked.inbox(&["list"], &[]).out;
    for (other, to) in [(2, "sam"), (1, "kim")] {
        let line = format!("\nReads like Question {other}. This one differs in: argument to: “{to}”.\n");
        assert!(listed.contains(&line), "{line}: {listed}");
    }
}

/// AAEP-6.4.2-06
#[test]
fn more_time_is_given_up_to_the_policys_limit() {
    let asked = Asked::new("more");
    let id = asked.asks("Write to Sam");
    let left = || asked.inbox(&["more-time", &id, "--seconds", "900", "--json"], &[]);
    let seconds = |ran: crate::cli_folder::Ran| {
        assert_eq!(ran.code, 0, "{}", ran.err);
        serde_json::from_str::<Value>(&ran.out).unwrap()["seconds_left"].as_i64().unwrap()
    };
    let first = seconds(left());
    assert!((1400..=1500).contains(&first), "{first}");
    seconds(left());
    let most = seconds(left());
    assert!((2300..=2400).contains(&most), "the policy's 1800 more and not beyond: {most}");
}

/// AAEP-6.9-03
#[test]
fn signed_only_connects_to_a_service_with_a_proven_identity_and_to_no_other() {
    let asked = Asked::new("signed");
    let id = asked.asks("Write to Sam");
    asked.folder.write("other.jwks", "{\"keys\":[]}");
    let ran = asked.inbox(&["--signed-only", "--pin-keys", "other.jwks", "answer", &id, "yes"], &[]);
    assert!(ran.code == 1 && ran.err.contains("does not prove its identity"), "{}", ran.err);
    assert_eq!(asked.decision(&id)["state"], "pending");
    let ran = asked.inbox(&["--signed-only", "answer", &id, "yes"], &[]);
    assert_eq!(ran.code, 0, "{}", ran.err);
}
