//! Following a plan to its end.

use super::{PLAN, approves, proposes, sends, thinks};
use crate::{cli_folder::Ran, cli_inbox::Asked};
use serde_json::Value;
use std::process::{Child, Command, Stdio};

/// `plan watch` in the background, killed with the test.
struct Watching(Option<Child>);

impl Watching {
    fn start(asked: &Asked) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command.args(["plan", "watch", PLAN]).current_dir(&asked.folder.0).env_clear().envs(asked.as_agent());
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        Self(Some(child.unwrap()))
    }

    fn ends(mut self) -> Ran {
        Ran::from(self.0.take().unwrap().wait_with_output().unwrap())
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The printed lines without their timestamps.
fn told(out: &str) -> Vec<&str> {
    out.lines().map(|line| line.split_once("  ").unwrap().1).collect()
}

#[test]
fn a_plan_that_was_called_off_ends_it_with_1() {
    let asked = Asked::new("watch-cancelled");
    let id = proposes(&asked, 1);
    approves(&asked, &id);
    asked.agent("POST", &format!("/mplp/v1/plans/{PLAN}/cancel"), &serde_json::json!({ "reason": "enough" }));
    let ran = asked.plan(&["watch", PLAN], &[]);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""), "{}", ran.out);
    assert_eq!(told(&ran.out).last(), Some(&"0/2  the plan is cancelled"));
}

#[test]
fn every_transition_of_a_plan_is_an_event_in_order_with_its_progress() {
    let asked = Asked::new("watch-live");
    let id = proposes(&asked, 2);
    let watching = Watching::start(&asked);
    approves(&asked, &id);
    thinks(&asked);
    sends(&asked, "one");
    sends(&asked, "two");
    let ran = watching.ends();
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    let expected = [
        "0/2  the plan was written",
        "0/2  the approval is pending",
        "0/2  the plan is proposed",
        "0/2  approved by user",
        "0/2  the plan is approved",
        "0/2  the plan is in progress",
        "0/2  step 1 (Think) is in progress",
        "1/2  step 1 (Think) is completed",
        "1/2  a call of step 2 (Send letters) began",
        "1/2  step 2 (Send letters) is in progress",
        "1/2  a call of step 2 (Send letters) succeeded",
        "1/2  a call of step 2 (Send letters) began",
        "1/2  a call of step 2 (Send letters) succeeded",
        "2/2  step 2 (Send letters) is completed",
        "2/2  the plan is completed",
    ];
    assert_eq!(told(&ran.out), expected);
    // A watcher that starts late prints the same lines, from the stored events.
    let late = asked.plan(&["watch", PLAN], &[]);
    assert_eq!((late.code, late.out), (0, ran.out));
    let json = asked.plan(&["watch", PLAN, "--json"], &[]).out;
    let last: Value = serde_json::from_str(json.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&last["done"], &last["steps"], &last["event"]["payload"]["to"]),
        (&2.into(), &2.into(), &"completed".into())
    );
    let unseen = asked.plan(&["watch", PLAN], &[("ACCESSIBLE", "1")]).out;
    assert!(unseen.starts_with("the plan was written. 0 of 2 steps done, "), "{unseen}");
}
