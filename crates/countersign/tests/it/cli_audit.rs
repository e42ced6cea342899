//! `countersign audit …` and `countersign person …`, through the built binary, with and without a running node.

use crate::cli_folder::Folder;
use serde_json::{Value, json};

///
#[test]
fn the_audit_is_listed_checked_and_exported_with_and_without_a_node() {
    let folder = Folder::with_project("audit-list");
    for node in [None, Some(folder.serve(&[]))] {
        let entries = folder.json("audit list");
        let entries = entries.as_array().unwrap();
        assert!(entries.iter().any(|entry| entry["event_type"] == "project_applied"), "{entries:?}");
        let lines = folder.run("audit list --jsonl").out;
        assert_eq!(lines.lines().count(), entries.len(), "{lines}");
        let csv = folder.run("audit list --csv --outcome recorded").out;
        assert!(csv.starts_with("timestamp,event_type,result,decided_by,"), "{csv}");
        let none = folder.run("audit list --person nobody").out;
        assert_eq!(none, "no entry fits\n");
        let odd = folder.run("audit list --outcome odd").refused();
        assert!(odd.err.contains("refused, committed"), "{}", odd.err);
        let check = folder.json("audit check --from-start");
        assert_eq!((&check["fault_count"], &check["faults"]), (&json!(0), &json!([])));
        assert_eq!(folder.run("audit check").code, 0);
        if let Some(node) = node {
            assert_eq!(node.ends_by("TERM").0, 0);
        }
    }
}

///
#[test]
fn a_person_is_held_released_scheduled_and_erased_by_command() {
    let folder = Folder::with_project("person-erase");
    assert_eq!(folder.run("person erase alice --now").code, 2, "a reason is needed");
    folder.run("person hold alice --reason court");
    assert!(folder.run("person erase alice").refused().err.contains("legal hold"));
    folder.run("person release alice");
    assert!(folder.run("person erase alice").out.contains("everything about them is erased at "));
    let scheduled = folder.json("person erasures");
    assert_eq!((&scheduled[0]["person"], &scheduled[0]["state"]), (&json!("alice"), &json!("scheduled")));
    let done = folder.run_words(&["person", "erase", "alice", "--now", "--reason", "she asked for it"], &[]);
    assert!(done.out.starts_with("alice is erased: "), "{} {}", done.out, done.err);
    let people: Value = folder.json("user list");
    assert!(!people.to_string().contains("alice"), "{people}");
    assert_eq!(folder.run("audit check").code, 0);
    let refused = folder.run("person erase alice").refused();
    assert!(refused.err.starts_with("error: there is no account named \"alice\""), "{}", refused.err);
}
