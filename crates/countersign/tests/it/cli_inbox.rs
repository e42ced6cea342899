//! `countersign inbox`, through the built binary, against a node that it serves too.

mod bounded;
mod live;
mod once;

use crate::cli_folder::{Folder, Ran, Served};
use serde_json::{Value, json};
use std::{fs, path::Path};

/// A node with a project that needs approvals, alice as the approver, and a token of hers.
pub(crate) struct Asked {
    pub(crate) folder: Folder,
    pub(crate) node: Served,
    pub(crate) key: String,
    pub(crate) token: String,
}

impl Asked {
    pub(crate) fn new(name: &str) -> Self {
        let folder = Folder::ready(&format!("inbox-{name}"));
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/payments.toml");
        folder.write("payments.toml", &fs::read_to_string(example).unwrap());
        folder.does("project apply payments.toml");
        folder.does_as("user add alice --role approver --role user");
        let key = "key add --kind agent --principal bot --responsible alice --action mail.send --action payments.send";
        let (key, token) = (folder.json(key), folder.json("token add --person alice --name terminal"));
        let secret = |made: &Value| made["secret"].as_str().unwrap().to_owned();
        let (key, token) = (secret(&key), secret(&token));
        let node = folder.serve(&[]);
        Self { folder, node, key, token }
    }

    pub(crate) fn agent(&self, method: &str, path: &str, body: &Value) -> Value {
        let bearer = format!("Authorization: Bearer {}\r\n", self.key);
        let answer = self.node.ask(method, path, &bearer, &body.to_string());
        assert!((200..300).contains(&answer.status), "{path}: {}", answer.body);
        answer.json()
    }

    /// An agent asks to send a letter; returns the decision's id.
    pub(crate) fn asks(&self, what: &str) -> String {
        let body = json!({ "action": what, "consequence": "It is gone", "tool": "mail.send",
            "arguments": { "text": what }, "timeout_seconds": 600 });
        self.agent("POST", "/v1/confirmations", &body)["decision_id"].as_str().unwrap().to_owned()
    }

    fn clarifies(&self, more: &Value) -> String {
        let mut body = json!({ "question": "Which city?" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.agent("POST", "/v1/clarifications", &body)["decision_id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn decision(&self, id: &str) -> Value {
        self.agent("GET", &format!("/v1/decisions/{id}"), &Value::Null)
    }

    /// Ends the node and starts another at the same address.
    fn restart(&mut self, address: &str) {
        assert_eq!(self.node.stops(), 0);
        self.node = self.folder.serve(&[("COUNTERSIGN_LISTEN__PUBLIC", address)]);
    }

    /// Runs `countersign plan …` as the agent.
    pub(crate) fn plan(&self, arguments: &[&str], more: &[(&str, &str)]) -> Ran {
        let own = self.as_agent();
        let own = own.iter().map(|(name, value)| (*name, value.as_str()));
        let environment: Vec<(&str, &str)> = own.chain(more.iter().copied()).collect();
        self.folder.run_words(&[&["plan"], arguments].concat(), &environment)
    }

    pub(crate) fn as_agent(&self) -> [(&'static str, String); 2] {
        [("COUNTERSIGN_SERVICE", self.node.origin()), ("COUNTERSIGN_API_KEY", self.key.clone())]
    }

    fn environment(&self) -> [(&'static str, String); 2] {
        [("COUNTERSIGN_SERVICE", self.node.origin()), ("COUNTERSIGN_TOKEN", self.token.clone())]
    }

    pub(crate) fn inbox(&self, arguments: &[&str], more: &[(&str, &str)]) -> Ran {
        let own = self.environment();
        let own = own.iter().map(|(name, value)| (*name, value.as_str()));
        let environment: Vec<(&str, &str)> = own.chain(more.iter().copied()).collect();
        self.folder.run_words(&[&["inbox"], arguments].concat(), &environment)
    }
}
