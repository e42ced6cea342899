//! A session from the first question to the accepted plan, with an agent and a person at two terminals.

use super::is_trouble;
use crate::{
    cli_folder::{Folder, Ran},
    cli_inbox::Asked,
};
use serde_json::{Value, json};

const STEP: &str = "2c9e7b14-6f53-4a08-b2d7-91f4a6e03c85";
const FIELD: &str = "actions.2c9e7b14-6f53-4a08-b2d7-91f4a6e03c85.arguments.to";

pub(super) fn clarify(asked: &Asked, arguments: &[&str]) -> Ran {
    let own = asked.as_agent();
    let environment: Vec<(&str, &str)> = own.iter().map(|(name, value)| (*name, value.as_str())).collect();
    asked.folder.run_words(&[&["clarify"], arguments].concat(), &environment)
}

pub(super) fn told(asked: &Asked, arguments: &[&str]) -> Value {
    let ran = clarify(asked, &[arguments, &["--json"]].concat());
    serde_json::from_str(&ran.out).unwrap_or_else(|why| panic!("{why}: {}", ran.err))
}

/// A plan that does not name the recipient of the letter.
pub(super) fn unclear(asked: &Asked) {
    let plan = json!({
        "plan": {
            "meta": { "protocol_version": "1.0.0", "schema_version": "1.0.0" },
            "plan_id": "8d5b1f0a-3c27-4e94-9a61-2f7d40c3b815", "context_id": "1a6f3c58-0d92-4b7e-a4c1-5e8b29d70f36",
            "title": "Write a letter", "objective": "It is written", "status": "draft",
            "steps": [{ "step_id": STEP, "description": "Send it", "status": "pending" }],
        },
        "actions": { STEP: { "tool": "mail.send", "arguments": { "to": "the usual one", "text": "hello" }, "uses": 1 } },
    });
    asked.folder.write("plan.json", &plan.to_string());
}

/// Submits the plan; returns the session id.
pub(super) fn submits(asked: &Asked) -> String {
    unclear(asked);
    told(asked, &["submit", "plan.json"])["session_id"].as_str().unwrap().to_owned()
}

/// The agent's attempt is escalated, then a person answers the only gap.
pub(super) fn is_answered(asked: &Asked, session: &str) {
    let escalated = told(asked, &["resolve", session, "gap-001", "sam"]);
    let decision = escalated["decision_id"].as_str().unwrap();
    let ran = asked.inbox(&["respond", decision, "sam"], &[]);
    assert_eq!(ran.code, 0, "{}", ran.err);
}

#[test]
fn without_a_key_or_a_service_it_names_the_missing_part() {
    let folder = Folder::new("clarify-nothing");
    let session = "8d5b1f0a-3c27-4e94-9a61-2f7d40c3b815";
    is_trouble(&folder.run(&format!("clarify gaps {session}")), "there is no API key", "hint: set COUNTERSIGN_API_KEY");
    let there = [("COUNTERSIGN_API_KEY", "csk_0"), ("COUNTERSIGN_SERVICE", "http://127.0.0.1:1")];
    for arguments in ["gaps", "confirm", "audit", "handoff"] {
        let ran = folder.run_with(&format!("clarify {arguments} {session}"), &there);
        is_trouble(&ran, "could not be reached", "hint: is the service running");
    }
    is_trouble(&folder.run_with("clarify keys", &there[1..]), "could not be reached", "hint: is the service running");
    for arguments in ["gaps plan-1", "resolve", "submit", "audit"] {
        assert_eq!(folder.run_with(&format!("clarify {arguments}"), &there).code, 2, "{arguments}");
    }
}

/// R-10
#[test]
fn the_session_of_another_agent_is_not_there() {
    let mut asked = Asked::new("clarify-other");
    let session = submits(&asked);
    let other = asked.folder.json("key add --kind agent --principal other --responsible alice --action mail.send");
    asked.key = other["secret"].as_str().unwrap().to_owned();
    for arguments in [vec!["gaps", &session], vec!["confirm", &session], vec!["resolve", &session, "gap-001", "sam"]] {
        is_trouble(&clarify(&asked, &arguments), "404", "hint: an agent sees the sessions that it opened itself");
    }
    is_trouble(&clarify(&asked, &["rotate-key"]), "403", "hint: ");
}

/// WWA-6.2-06, WWA-5-05
#[test]
fn a_person_gives_the_answer_that_the_agent_may_not_and_reads_it_before_the_approval() {
    let asked = Asked::new("clarify-whole");
    unclear(&asked);
    let ran = clarify(&asked, &["submit", "plan.json"]);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    assert!(ran.out.contains(&format!("\ngap-001 BLOCK at {FIELD}\n")), "{}", ran.out);
    assert!(ran.out.contains("  A person must answer.\n") && ran.out.contains("\nanswer with: countersign clarify "));
    let session = submits(&asked);
    assert!(ran.out.starts_with(&format!("session {session} needs clarification: 1 gap blocks\n")), "{}", ran.out);

    let own = clarify(&asked, &["resolve", &session, "gap-001", "sam"]);
    assert_eq!(own.code, 1, "{}", own.err);
    assert!(own.out.starts_with("gap-001 stays open: a person must answer this"), "{}", own.out);
    assert!(own.out.contains("\n  A person is asked: decision dec_") && own.out.ends_with("\n1 gap is open\n"));
    assert_eq!(clarify(&asked, &["confirm", &session]).code, 1);
    is_answered(&asked, &session);
    let ready = clarify(&asked, &["gaps", &session]);
    assert_eq!((ready.code, ready.out), (0, format!("session {session} is ready: no gap is open\n")));

    let confirmed = clarify(&asked, &["confirm", &session]);
    assert_eq!(confirmed.code, 0, "{}", confirmed.err);
    let said = &confirmed.out;
    assert!(said.starts_with(&format!("session {session}: the plan is accepted\nattested ")), "{said}");
    assert!(said.contains(", after 2 rounds\npeople are asked about it: Confirm "), "{said}");
    let listed = asked.inbox(&["list"], &[]).out;
    assert!(listed.contains(&format!("\nAnswered by a person: for “{FIELD}” the answer is “sam”.\n")), "{listed}");
}

/// WWA-3-08, WWA-6.2-06
#[test]
fn gaps_that_the_agent_may_answer_are_marked_as_its_own() {
    let asked = Asked::new("clarify-own");
    asked.folder.write("plan.json", r#"{"languages": ["ar-sa"]}"#);
    let session = told(&asked, &["submit", "plan.json"])["session_id"].as_str().unwrap().to_owned();
    let ran = clarify(&asked, &["resolve", &session, "gap-001", "accept"]);
    let expected = "gap-001 is resolved by the agent itself: accept\nno gap is open any more\n";
    assert_eq!((ran.code, ran.out.as_str()), (0, expected), "{}", ran.err);
    let accepted = told(&asked, &["confirm", &session]);
    assert_eq!(accepted["plan"], json!({ "languages": ["ar-sa"] }));
    let audit = clarify(&asked, &["audit", &session]).out;
    assert!(audit.contains("\n  by the agent itself; countersign-payments signed that it was given\n"), "{audit}");
}
