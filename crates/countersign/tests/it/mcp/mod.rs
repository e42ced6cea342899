//! `countersign mcp`, and a node's tools through foreign clients, over both transports.

mod bridge;
mod clients;
mod conformance;
mod program;

use crate::cli_folder::{Folder, Served};
use serde_json::{Value, json};
use std::{fs, path::Path};

/// A node with a project that asks, alice to decide, and a key for her program.
struct Stage {
    folder: Folder,
    node: Served,
    key: String,
    token: String,
}

impl Stage {
    fn set(name: &str) -> Self {
        Self::with(name, &[])
    }

    fn with(name: &str, environment: &[(&str, &str)]) -> Self {
        let folder = Folder::ready(&format!("mcp-{name}"));
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/payments.toml");
        folder.write("payments.toml", &fs::read_to_string(example).unwrap());
        folder.does("project apply payments.toml");
        folder.does_as("user add alice --role approver --role user");
        let key = folder.json("key add --kind agent --principal bot --responsible alice --action mail.send");
        let token = folder.json("token add --person alice --name terminal");
        let secret = |made: &Value| made["secret"].as_str().unwrap().to_owned();
        let node = folder.serve(environment);
        Self { key: secret(&key), token: secret(&token), folder, node }
    }

    /// The environment of `countersign mcp`.
    fn environment(&self) -> [(&'static str, String); 2] {
        [("COUNTERSIGN_SERVICE", self.node.origin()), ("COUNTERSIGN_API_KEY", self.key.clone())]
    }

    /// Alice approves at her terminal.
    fn accepts(&self, decision_id: &str) {
        self.at_her_terminal(&["inbox", "answer", decision_id, "yes"]);
    }

    fn rejects(&self, decision_id: &str) {
        self.at_her_terminal(&["inbox", "answer", decision_id, "no"]);
    }

    fn responds(&self, decision_id: &str, text: &str) {
        self.at_her_terminal(&["inbox", "respond", decision_id, text]);
    }

    fn at_her_terminal(&self, words: &[&str]) {
        let origin = self.node.origin();
        let environment = [("COUNTERSIGN_SERVICE", origin.as_str()), ("COUNTERSIGN_TOKEN", self.token.as_str())];
        let ran = self.folder.run_words(words, &environment);
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
}

/// A confirmation request about a letter.
fn letter(text: &str) -> Value {
    json!({ "action": format!("Write {text}"), "consequence": "It is gone", "tool": "mail.send",
        "arguments": { "text": text } })
}
