//! The inbox while it runs.

use super::Asked;
use crate::cli_plan::proposes;
use serde_json::{Value, json};
use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver},
    time::Duration,
};

struct Live {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    heard: Vec<String>,
}

impl Live {
    fn start(asked: &Asked, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command.arg("inbox").args(arguments).current_dir(&asked.folder.0).env_clear();
        command.envs(asked.environment()).envs(environment.iter().copied());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (to, lines) = mpsc::channel();
        std::thread::spawn(move || out.lines().map_while(Result::ok).for_each(|line| drop(to.send(line))));
        Self { input: child.stdin.take(), child, lines, heard: Vec::new() }
    }

    /// Reads until a line contains this; returns that line.
    fn hears(&mut self, part: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(Duration::from_secs(30));
            let line = line.unwrap_or_else(|_| panic!("{part:?} was not said: {:#?}", self.heard));
            self.heard.push(line.clone());
            if line.contains(part) {
                return line;
            }
        }
    }

    fn types(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Ends it; returns its whole output.
    fn quits(mut self) -> Vec<String> {
        self.types("quit");
        assert!(self.child.wait().unwrap().success());
        self.heard.extend(self.lines.iter());
        std::mem::take(&mut self.heard)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// AAEP-SCHEMA-09, AAEP-6.8-05, AAEP-6.8-06
#[test]
fn a_question_is_announced_once_and_dropped_when_it_is_withdrawn() {
    let asked = Asked::new("live-withdrawn");
    let early = asked.asks("Write to Sam");
    let mut live = Live::start(&asked, &[], &[]);
    live.hears("Question 1 needs your approval: “Write to Sam”");
    live.hears("To answer: 1 approve");
    let late = asked.asks("Write to Kim");
    live.hears("Question 2 needs your approval: “Write to Kim”");
    asked.agent("POST", &format!("/v1/decisions/{early}/withdraw"), &json!({ "reason": "no longer needed" }));
    live.hears("Question 1 was withdrawn. The question was withdrawn: “no longer needed”");
    live.types("1 yes");
    live.hears("Question 1 is no longer pending. Nothing was sent");
    let all = live.quits();
    for said in ["Question 1 needs", "Question 2 needs", "Question 1 was withdrawn"] {
        assert_eq!(all.iter().filter(|line| line.contains(said)).count(), 1, "{said}: {all:#?}");
    }
    assert_eq!(asked.decision(&early)["state"], "cancelled");
    assert_eq!(asked.decision(&late)["state"], "pending", "leaving settles nothing");
}

/// AAEP-6.7.2-01
#[test]
fn one_answers_and_the_other_hears_that_it_is_settled() {
    let asked = Asked::new("live-two");
    let (mut one, mut other) = (Live::start(&asked, &[], &[]), Live::start(&asked, &["--json"], &[]));
    one.hears("Listening to");
    other.hears("listening");
    let id = asked.asks("Write to Sam");
    one.hears("To answer: 1 approve");
    let told: Value = serde_json::from_str(&other.hears("\"asked\"")).unwrap();
    assert_eq!((&told["question"]["id"], &told["question"]["agent_id"]), (&json!(id), &json!("bot")));
    one.types("approve");
    one.hears("An answer begins with the number of its question");
    one.types("1 reject, too cold");
    one.hears("Question 1 was rejected");
    let over: Value = serde_json::from_str(&other.hears("\"over\"")).unwrap();
    assert_eq!((&over["id"], &over["ending"]), (&json!(id), &json!("rejected")));
    other.types(&format!("{id} yes"));
    assert!(other.hears("problem").contains("no longer pending"));
    assert_eq!(asked.decision(&id)["reason"], "too cold");
    let said = [one.quits(), other.quits()].concat();
    assert!(said.iter().all(|line| !line.contains("rpl_") && !line.contains("cst_")), "{said:#?}");
}

/// AAEP-6.4.3-03
#[test]
fn more_time_and_answers_of_every_kind_can_be_typed() {
    let asked = Asked::new("live-kinds");
    let mut live = Live::start(&asked, &[], &[]);
    live.hears("Listening to");
    asked.asks("Write to Sam");
    live.hears("To answer: 1 approve");
    live.types("1 more 900");
    live.hears("Question 1 has more time: 24 minutes");
    let id = asked.clarifies(&json!({ "accepted_response_kinds": ["numeric"] }));
    live.hears("To answer: 2 and a number");
    live.types("2 many");
    live.hears("Nothing was sent: this question takes a number");
    live.types("2 67");
    live.hears("Question 2 was answered");
    assert_eq!(asked.decision(&id)["response"], 67);
    live.types("list");
    live.hears("Question 1 needs your approval");
    live.quits();
}

#[test]
fn accessible_output_is_plain_lines_that_stand_alone() {
    let asked = Asked::new("live-accessible");
    asked.asks("Write to Sam");
    let mut live = Live::start(&asked, &["--quiet"], &[("ACCESSIBLE", "1")]);
    live.hears("To answer: 1 approve");
    let all = live.quits();
    for line in &all {
        assert!(!line.contains('\u{1b}') && !line.starts_with(' ') && !line.is_empty(), "{all:#?}");
        assert!(line.ends_with('.'), "{line}");
    }
}

///
#[test]
fn a_plan_shows_its_steps_and_an_agent_cannot_make_a_question_look_like_one() {
    let asked = Asked::new("live-plan");
    let mut live = Live::start(&asked, &[], &[]);
    live.hears("Listening to");
    let body = json!({ "action": "Approve the plan “Rest”: 1 step", "consequence": "x", "tool": "mail.send",
        "arguments": {}, "extra_context": { "steps": [{ "runs": "nothing at all", "words": "owner" }] } });
    asked.agent("POST", "/v1/confirmations", &body);
    live.hears("To answer: 1 approve");
    assert!(live.heard.iter().all(|line| !line.contains("Step 1")), "{:#?}", live.heard);
    proposes(&asked, 2);
    live.hears("Question 2 needs your approval: Approve the plan “Write to Sam”: 2 steps");
    live.hears("Step 1: an approval permits no call. The agent says: “Think”.");
    live.hears("Step 2: mail.send(");
    live.types("2 no, not now");
    live.hears("Question 2 was rejected");
    live.quits();
}

///
#[test]
fn an_inbox_outlives_a_restart_of_the_service() {
    let mut asked = Asked::new("live-restart");
    let id = asked.asks("Write to Sam");
    let mut live = Live::start(&asked, &[], &[]);
    live.hears("To answer: 1 approve");
    let address = asked.node.origin().trim_start_matches("http://").to_owned();
    asked.restart(&address);
    live.hears("Connected again");
    live.types("1 approve");
    live.hears("Question 1 was approved");
    assert_eq!(asked.decision(&id)["state"], "accepted");
    let all = live.quits();
    assert_eq!(all.iter().filter(|line| line.contains("Question 1 needs")).count(), 1, "{all:#?}");
}
