//! `countersign key …`, through the built binary.

use crate::cli_folder::{Folder, Served};
use serde_json::json;

const ADD: &str = "key add --principal bot --responsible alice";

/// The response status for a key that requests the project document.
fn asks(node: &Served, secret: &str) -> u16 {
    node.ask("GET", "/v1/project", &format!("Authorization: Bearer {secret}\r\nAap-Version: 2.0\r\n"), "").status
}

///
#[test]
fn a_key_needs_a_kind_a_principal_and_people_and_actions_that_exist() {
    let folder = Folder::with_project("key-refused");
    for arguments in ["key add", "key add --kind agent --principal bot", ADD, "key add --kind king"] {
        assert_eq!(folder.run(arguments).code, 2, "{arguments}");
    }
    for (arguments, error) in [
        ("--kind agent --principal bot --responsible bob", "the responsible person has no account here"),
        ("--kind agent --principal bot --responsible alice --ask bob", "\"bob\", to be asked, has no account here"),
        ("--kind agent --principal bot --responsible alice --action no", "no scope of the project allows the action"),
        ("--kind agent --principal bot --responsible alice --project no", "there is no such project"),
        ("--kind agent --principal= --responsible alice", "a key needs a principal of 1 to 128 characters"),
    ] {
        let ran = folder.run(&format!("key add {arguments}")).refused();
        assert!(ran.err.starts_with(&format!("error: {error}")), "{}", ran.err);
    }
    assert_eq!(folder.run(&format!("{ADD} --kind agent --jkt short")).code, 2);
    assert_eq!(folder.json("key list"), json!([]));
}

#[test]
fn a_key_that_is_not_there_cannot_be_revoked() {
    let folder = Folder::with_project("key-unknown");
    let ran = folder.run("key revoke key_00").refused();
    assert!(ran.err.starts_with("error: there is no such key in this project\nhint: "), "{}", ran.err);
}

///
#[test]
fn a_secret_is_shown_once_and_kept_nowhere() {
    let folder = Folder::with_project("key-secret");
    let ran = folder.run(&format!("{ADD} --kind enforcement-point --jkt {}", "a".repeat(43)));
    assert_eq!(ran.code, 0);
    let secret = ran.out.lines().find_map(|line| line.strip_prefix("secret: ")).unwrap();
    assert!(secret.starts_with("csk_") && ran.err.contains("cannot be shown again"), "{}", ran.err);
    assert!(!folder.does("key list").contains(secret) && !folder.does("key list --json").contains(secret));
    assert!(!folder.holds(secret));
}

///
#[test]
fn keys_are_listed_with_permissions_and_responsible_person() {
    let folder = Folder::with_project("key-list");
    folder.does_as("user add bob");
    let actions = "--action events.create --action events.update --ask bob";
    let added = folder.json(&format!("{ADD} --kind agent {actions}"));
    let listed = folder.json("key list")[0].clone();
    assert_eq!(listed["id"], added["id"]);
    assert_eq!((&listed["kind"], &listed["responsible"]), (&"agent".into(), &"alice".into()));
    assert_eq!((&listed["actions"], &listed["asks"]), (&json!(["events.create", "events.update"]), &json!(["bob"])));
    assert!(folder.does("key list").contains("agent  bot        alice        events.create, events.update  in use\n"));
}

///
#[test]
fn a_running_node_takes_an_admin_key_at_once_and_not_a_moment_after_it_was_revoked() {
    let folder = Folder::with_project("key-running");
    let node = folder.serve(&[]);
    let (admin, agent) =
        (folder.json(&format!("{ADD} --kind admin")), folder.json(&format!("{ADD} --kind agent --action events.read")));
    let secret = |key: &serde_json::Value| key["secret"].as_str().unwrap().to_owned();
    assert_eq!(asks(&node, &secret(&admin)), 200);
    assert_eq!(asks(&node, &secret(&agent)), 403);
    let revoke = format!("key revoke {}", admin["id"].as_str().unwrap());
    let said = folder.does(&revoke);
    assert_eq!(folder.does(&revoke), said, "ending it twice changes nothing");
    assert_eq!(asks(&node, &secret(&admin)), 403);
    assert!(folder.json("key list")[0]["revoked_at"].is_string());
}
