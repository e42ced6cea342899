//! A project with action policies, and a node that applies them, through the built binary.

use crate::cli_folder::{Answer, Folder, Served};
use serde_json::{Value, json};
use std::{fs, path::Path};

fn payments() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/payments.toml");
    fs::read_to_string(path).unwrap()
}

/// A folder with the example applied and alice added; also returns the secret of an agent's key.
fn ready(name: &str) -> (Folder, String) {
    let folder = Folder::ready(name);
    folder.write("payments.toml", &payments());
    folder.does("project apply payments.toml");
    folder.does_as("user add alice --role approver --role user");
    let key = folder.json("key add --kind agent --principal bot --responsible alice --action mail.send");
    (folder, key["secret"].as_str().unwrap().to_owned())
}

fn asks(node: &Served, key: &str, method: &str, path: &str, body: &Value) -> Answer {
    node.ask(method, path, &format!("Authorization: Bearer {key}\r\n"), &body.to_string())
}

///
#[test]
fn policies_about_actions_are_applied_and_shown_and_errors_name_their_place() {
    let folder = Folder::ready("decisions-policies");
    folder.write("payments.toml", &payments());
    assert_eq!(folder.does("project apply payments.toml"), "project payments: version 1 is in force\n");
    folder.write("shown.toml", &folder.does("project show"));
    let again = "project payments: version 1 stays in force: the document says the same\n";
    assert_eq!(folder.does("project apply shown.toml"), again);
    let shown = folder.json("project show")["document"].clone();
    assert_eq!((&shown["actions"][0]["risk"], &shown["actions"][0]["irreversible"]), (&json!("high"), &json!(true)));
    assert_eq!(shown["decisions"]["max_open_per_agent"], 10);

    let dangerous = payments().replace("risk = \"low\"\n\n", "risk = \"low\"\ndefault_decision = \"accept\"\n\n");
    folder.write("bad.toml", &dangerous);
    let ran = folder.run("project apply bad.toml").refused();
    assert!(ran.err.contains("actions[1]") && ran.err.contains("default_decision accept is only for"), "{}", ran.err);
    let hasty = payments().replace("timeout_seconds = 60\ndefault", "timeout_seconds = 3\ndefault");
    folder.write("hasty.toml", &hasty);
    let ran = folder.run("project apply hasty.toml");
    assert!(ran.code == 1 && ran.err.contains("at least 30 seconds to answer, and they would have 3"), "{}", ran.err);
    folder.write("typo.toml", &payments().replace("pause_seconds", "pause_secs"));
    let ran = folder.run("project apply typo.toml");
    assert!(ran.err.contains("`decisions.pause_secs`") && ran.err.contains("pause_seconds"), "{}", ran.err);
}

/// AAEP-6.4-01
#[test]
fn a_node_settles_due_rows_by_itself() {
    let (folder, key) = ready("decisions-due");
    let node = folder.serve(&[]);
    let body = json!({ "action": "Send it", "consequence": "It is gone", "tool": "mail.send", "timeout_seconds": 1 });
    let asked = asks(&node, &key, "POST", "/v1/confirmations", &body);
    assert_eq!(asked.status, 201, "{}", asked.body);
    let path = format!("/v1/decisions/{}?wait=20", asked.json()["decision_id"].as_str().unwrap());
    let told = asks(&node, &key, "GET", &path, &Value::Null);
    assert_eq!((told.status, &told.json()["state"]), (200, &json!("expired")), "{}", told.body);
    assert_eq!(told.json()["expired_as"], "reject");
}
