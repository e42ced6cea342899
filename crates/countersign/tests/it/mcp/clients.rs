//! Clients of MCP's authors, as they are published: npm's `@modelcontextprotocol/client` and PyPI's `mcp`, each in the
//! current version of the protocol and in one before it, over HTTP and over standard input and output.

use super::{
    Stage, letter,
    program::{Program, brought, root},
};
use serde_json::{Value, json};
use std::process::Command;

fn over_http(stage: &Stage) -> Value {
    json!({ "url": format!("{}/mcp", stage.node.origin()), "key": stage.key })
}

fn over_stdio(stage: &Stage) -> Value {
    let environment: serde_json::Map<String, Value> =
        stage.environment().into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect();
    json!({ "command": env!("CARGO_BIN_EXE_countersign"), "args": ["mcp"], "env": environment })
}

fn typescript(mut reach: Value, mode: Value) -> Program {
    brought("node_modules/@modelcontextprotocol/client");
    reach["mode"] = mode;
    Program::start(Command::new("node").arg("tests/foreign/mcp-client.mjs").arg(reach.to_string()).current_dir(root()))
}

fn python(mut reach: Value, mode: Value) -> Program {
    let python = brought(".venv/bin/python");
    reach["mode"] = mode;
    Program::start(Command::new(python).arg("tests/foreign/mcp_client.py").arg(reach.to_string()).current_dir(root()))
}

/// The whole round as the client's agent goes through it, with alice deciding where people do.
fn goes_round(stage: &Stage, mut client: Program, version: &str, text: &str) {
    let connected = client.says();
    assert_eq!(
        (&connected["connected"], &connected["server"]),
        (&json!(version), &json!("countersign")),
        "{connected}"
    );
    assert!(connected["tools"].as_array().unwrap().contains(&json!("request_confirmation")), "{connected}");
    let mut call = |tool: &str, arguments: Value| client.asks(&json!({ "tool": tool, "arguments": arguments }));

    let wrong = call("request_confirmation", json!({ "action": "Write" }));
    assert_eq!((&wrong["isError"], &wrong["structuredContent"]["error"]), (&json!(true), &json!("invalid_request")));
    let unknown = call("wire_money", json!({}));
    assert_eq!(unknown["code"], -32602, "{unknown}");

    let asked = call("request_confirmation", letter(text))["structuredContent"].clone();
    let id = asked["decision_id"].as_str().unwrap_or_else(|| panic!("{asked}")).to_owned();
    let look = call("await_decision", json!({ "decision_id": id, "wait_seconds": 1 }));
    assert_eq!(look["structuredContent"]["state"], "pending", "a client that says yes to everything decides nothing");
    stage.accepts(&id);
    let told = call("await_decision", json!({ "decision_id": id }));
    assert_eq!(told["structuredContent"]["state"], "accepted", "{told}");
    let claim = json!({ "decision_id": id, "tool": "mail.send", "arguments": { "text": text } });
    let begun = call("begin_action", claim)["structuredContent"].clone();
    let execution = &begun["execution"]["execution_id"];
    let done = call("report_outcome", json!({ "decision_id": id, "execution_id": execution, "status": "committed" }));
    assert_eq!(done["structuredContent"]["execution"]["state"], "committed", "{done}");
    assert!(client.ends().0.success());
}

///
#[test]
fn the_typescript_client_goes_round_over_http() {
    let stage = Stage::set("ts-http");
    let mut stranger = over_http(&stage);
    stranger["key"] = Value::Null;
    let failed = typescript(stranger, json!("legacy")).says();
    assert!(failed.get("failed").is_some(), "{failed}");
    goes_round(&stage, typescript(over_http(&stage), json!("legacy")), "2025-11-25", "one");
    goes_round(&stage, typescript(over_http(&stage), json!({ "pin": "2026-07-28" })), "2026-07-28", "two");
}

///
#[test]
fn the_typescript_client_goes_round_over_stdio() {
    let stage = Stage::set("ts-stdio");
    goes_round(&stage, typescript(over_stdio(&stage), json!("legacy")), "2025-11-25", "one");
    goes_round(&stage, typescript(over_stdio(&stage), json!("auto")), "2026-07-28", "two");
}

///
#[test]
fn the_python_client_goes_round_over_http() {
    let stage = Stage::set("py-http");
    let mut stranger = over_http(&stage);
    stranger["key"] = Value::Null;
    let failed = python(stranger, json!("legacy")).says();
    assert!(failed.get("failed").is_some(), "{failed}");
    goes_round(&stage, python(over_http(&stage), json!("legacy")), "2025-11-25", "one");
    goes_round(&stage, python(over_http(&stage), json!("auto")), "2026-07-28", "two");
}

///
#[test]
fn the_python_client_goes_round_over_stdio() {
    let stage = Stage::set("py-stdio");
    goes_round(&stage, python(over_stdio(&stage), json!("legacy")), "2025-11-25", "one");
    goes_round(&stage, python(over_stdio(&stage), json!("auto")), "2026-07-28", "two");
}
