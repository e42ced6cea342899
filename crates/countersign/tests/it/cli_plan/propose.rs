//! Writing, proposing, showing and comparing plans.

use super::{PLAN, SENDS, approves, fails, plan, proposes, sends, thinks, write};
use crate::{cli_folder::Folder, cli_inbox::Asked};
use serde_json::{Value, json};

#[test]
fn without_a_key_a_service_or_a_plan_it_names_the_missing_part_and_sends_nothing() {
    let folder = Folder::new("plan-nothing");
    let ran = folder.run(&format!("plan show {PLAN}"));
    fails(&ran, "error: there is no API key", "hint: set COUNTERSIGN_API_KEY or use --key-file");
    let there = [("COUNTERSIGN_API_KEY", "csk_0"), ("COUNTERSIGN_SERVICE", "http://127.0.0.1:1")];
    let ran = folder.run_with(&format!("plan show {PLAN}"), &there);
    fails(&ran, "could not be reached", "hint: is the service running");
    for arguments in ["plan", "plan show plan-1", "plan propose", "plan propose x --timeout soon", "plan watch"] {
        assert_eq!(folder.run_with(arguments, &there).code, 2, "{arguments}");
    }
    fails(&folder.run_with("plan propose gone.json", &there), "gone.json: cannot be read", "");
    let mut bad = plan(1);
    bad["plan"]["meta"] = json!({ "protocolVersion": "1.0.0" });
    folder.write("bad.json", &bad.to_string());
    let ran = folder.run_with("plan propose bad.json", &there);
    fails(&ran, "bad.json: plan.meta", "hint: nothing was sent");
    folder.write("key", "csk_0\n");
    let ran = folder.run_with(&format!("plan --key-file key show {PLAN}"), &there[1..]);
    fails(&ran, "could not be reached", "");
}

///
#[test]
fn the_plan_of_another_agent_is_not_there() {
    let mut asked = Asked::new("plan-other");
    proposes(&asked, 1);
    let other = asked.folder.json("key add --kind agent --principal other --responsible alice --action mail.send");
    asked.key = other["secret"].as_str().unwrap().to_owned();
    for arguments in [["show", PLAN], ["diff", PLAN], ["watch", PLAN]] {
        let ran = asked.plan(&arguments, &[]);
        fails(&ran, "404", "hint: an agent sees the plans that it wrote itself");
    }
}

///
#[test]
fn a_plan_that_calls_itself_approved_is_proposed_shown_and_approved_by_a_person() {
    let asked = Asked::new("plan-show");
    let id = proposes(&asked, 2);
    let shown = asked.plan(&["show", PLAN], &[]).out;
    for part in [
        "Plan: Write to Sam\n",
        "Status: proposed, 0 of 2 steps done\n",
        "Lasts: 1 hour once it is approved\n",
        "pending  0 of 2  not approved",
        "nothing: Think (done by the agent itself)\n",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let listed = asked.inbox(&["list"], &[]).out;
    assert!(listed.contains("Approve the plan “Write to Sam”: 2 steps.\n"), "{listed}");
    assert!(listed.contains("Step 1: an approval permits no call. The agent says: “Think”.\n"), "{listed}");
    assert!(listed.contains("\nStep 2: mail.send(") && listed.contains("up to 2 times"), "{listed}");
    approves(&asked, &id);
    thinks(&asked);
    sends(&asked, "good morning");
    let shown = asked.plan(&["show", PLAN], &[]).out;
    assert!(shown.contains("Status: in progress, 1 of 2 steps done\nUntil: "), "{shown}");
    assert!(shown.contains("2     in progress  1 of 2  1 "), "{shown}");
    assert!(!shown.contains('\u{1b}'));
    let told: Value = serde_json::from_str(&asked.plan(&["show", PLAN, "--json"], &[]).out).unwrap();
    assert_eq!(
        (&told["plan"]["status"], &told["actions"]["steps"][1]["runs"]["left"]["uses"]),
        (&json!("in_progress"), &json!(1))
    );
}

///
#[test]
fn some_steps_only_may_be_approved() {
    let asked = Asked::new("plan-some");
    let id = proposes(&asked, 2);
    let ran = asked.inbox(&["answer", &id, "yes", "--step", "3"], &[]);
    assert!(ran.code == 2 && ran.err.contains("the plan has no step 3: it has 2"), "{}", ran.err);
    let ran = asked.inbox(&["answer", &id, "yes", "--step", "2"], &[]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains(": 2 calls, until "), "{}", ran.out);
    let shown: Value = serde_json::from_str(&asked.plan(&["show", PLAN, "--json"], &[]).out).unwrap();
    let statuses = (&shown["plan"]["steps"][0]["status"], &shown["plan"]["steps"][1]["status"]);
    assert_eq!(statuses, (&json!("skipped"), &json!("pending")));
}

/// MPLP-4.3-04
#[test]
fn a_waiter_for_a_plan_gets_the_reason_of_its_return_and_the_changes_since() {
    let asked = Asked::new("plan-wait");
    write(&asked, 2);
    let ran = std::thread::scope(|scope| {
        let waits = scope.spawn(|| asked.plan(&["propose", "plan.json", "--wait", "--timeout", "1m"], &[]));
        let id = (0..600).find_map(|_| {
            let listed = asked.inbox(&["list", "--json"], &[]).out;
            let first: Value = serde_json::from_str(listed.lines().next()?).unwrap();
            Some(first["id"].as_str().unwrap().to_owned())
        });
        let no = asked.inbox(&["answer", &id.unwrap(), "no", "--reason", "too many"], &[]);
        assert_eq!(no.code, 0, "{}", no.err);
        waits.join().unwrap()
    });
    assert_eq!(ran.code, 1);
    assert!(ran.out.starts_with(&format!("plan {PLAN} is proposed: the approval is pending, until ")), "{}", ran.out);
    assert!(ran.err.starts_with(&format!("error: plan {PLAN} was rejected: too many\nhint: ")), "{}", ran.err);
    assert!(asked.plan(&["show", PLAN], &[]).out.contains("Returned to draft: too many\n"));

    assert_eq!(asked.plan(&["diff", PLAN, "plan.json"], &[]).code, 0, "the file says the same");
    write(&asked, 1);
    let differs = asked.plan(&["diff", PLAN, "plan.json"], &[]);
    assert_eq!(differs.code, 1);
    assert!(differs.out.contains("its uses went from 2 to 1"), "{}{}", differs.out, differs.err);
    assert_eq!(asked.plan(&["diff", PLAN], &[]).code, 0, "nothing was written");
    let told: Value = serde_json::from_str(&asked.plan(&["diff", PLAN, "plan.json", "--json"], &[]).out).unwrap();
    assert_eq!(told["lines"].as_array().unwrap().len(), 1);
    let id = proposes(&asked, 1);
    approves(&asked, &id);
    let again = asked.plan(&["propose", "plan.json"], &[]);
    fails(&again, "409", "");
    let shown: Value = serde_json::from_str(&asked.plan(&["show", PLAN, "--json"], &[]).out).unwrap();
    assert_eq!(shown["actions"]["steps"][1]["step_id"], SENDS);
}
