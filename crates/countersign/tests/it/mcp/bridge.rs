//! The command itself: lines in, lines out, and an error without a service.

use super::{Stage, letter, program::Program};
use crate::cli_folder::Folder;
use serde_json::{Value, json};
use std::process::Command;

fn bridge(folder: &Folder, environment: &[(&str, String)]) -> Program {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    let environment = environment.iter().map(|(name, value)| (*name, value.as_str()));
    Program::start(command.arg("mcp").current_dir(&folder.0).env_clear().envs(environment))
}

fn request(id: u32, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn call(id: u32, tool: &str, arguments: Value) -> Value {
    request(id, "tools/call", json!({ "name": tool, "arguments": arguments }))
}

#[test]
fn without_a_key_it_names_the_missing_key_and_begins_nothing() {
    let folder = Folder::new("mcp-no-key");
    let ran = folder.run("mcp").refused();
    assert!(ran.err.contains("no API key") && ran.err.contains("COUNTERSIGN_API_KEY"), "{}", ran.err);
}

#[test]
fn a_service_that_is_not_there_or_does_not_know_the_key_is_an_error_and_no_silence() {
    let stage = Stage::set("lost");
    let nowhere =
        [("COUNTERSIGN_SERVICE", "http://127.0.0.1:1".to_owned()), ("COUNTERSIGN_API_KEY", stage.key.clone())];
    let mut lost = bridge(&stage.folder, &nowhere);
    let told = lost.asks(&request(1, "tools/list", json!({})));
    assert!(told["error"]["message"].as_str().unwrap().contains("could not be reached"), "{told}");
    assert!(lost.ends().0.success());

    let [service, _] = stage.environment();
    let mut unknown = bridge(&stage.folder, &[service, ("COUNTERSIGN_API_KEY", "csk_0".to_owned())]);
    let told = unknown.asks(&request(1, "initialize", json!({})));
    assert_eq!((&told["id"], &told["error"]["data"]["error"]), (&json!(1), &json!("not_authorized")), "{told}");
    let (status, more) = unknown.ends();
    assert!(status.success() && more.is_empty(), "{more:?}");
}

#[test]
fn a_service_that_goes_away_is_reported_and_one_that_comes_back_is_used() {
    let stage = Stage::set("restart");
    let mut bridge = bridge(&stage.folder, &stage.environment());
    assert!(bridge.asks(&request(1, "ping", json!({}))).get("result").is_some());
    let address = stage.node.origin().trim_start_matches("http://").to_owned();
    let Stage { folder, node, .. } = stage;
    assert_eq!(node.ends_by("TERM").0, 0);
    let told = bridge.asks(&request(2, "ping", json!({})));
    assert!(told["error"]["message"].as_str().unwrap().contains("could not be reached"), "{told}");
    let _node = folder.serve(&[("COUNTERSIGN_LISTEN__PUBLIC", &address)]);
    assert!(bridge.asks(&request(3, "ping", json!({}))).get("result").is_some());
}

#[test]
fn one_request_waits_while_others_are_answered_and_a_cancelled_one_stays_unanswered() {
    let stage = Stage::set("many");
    let mut bridge = bridge(&stage.folder, &stage.environment());
    let ask = |bridge: &mut Program, id: u32, text: &str| {
        let told = bridge.asks(&call(id, "request_confirmation", letter(text)));
        told["result"]["structuredContent"]["decision_id"].as_str().unwrap().to_owned()
    };
    let (first, second) = (ask(&mut bridge, 1, "to Sam"), ask(&mut bridge, 2, "to Kim"));
    for (id, decision) in [(3, &first), (4, &second)] {
        let wait = json!({ "decision_id": decision, "wait_seconds": 55 });
        bridge.is_told(&call(id, "await_decision", wait).to_string());
    }
    assert_eq!(bridge.asks(&request(5, "ping", json!({})))["id"], 5, "nobody waits for a wait");
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 3 } });
    bridge.is_told(&cancelled.to_string());
    assert_eq!(bridge.asks(&request(6, "ping", json!({})))["id"], 6);
    stage.accepts(&first);
    stage.accepts(&second);
    let told = bridge.says();
    assert_eq!((&told["id"], &told["result"]["structuredContent"]["state"]), (&json!(4), &json!("accepted")), "{told}");
    let (status, more) = bridge.ends();
    assert!(status.success() && more.is_empty(), "{more:?}");
}

#[test]
fn duplicate_members_are_refused_by_the_service_and_invalid_json_by_the_bridge() {
    let stage = Stage::set("lines");
    let mut bridge = bridge(&stage.folder, &stage.environment());
    bridge.is_told(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"request_confirmation","arguments":{"action":"a","action":"b","consequence":"c"}}}"#);
    let told = bridge.says();
    assert_eq!((&told["id"], &told["error"]["code"]), (&json!(1), &json!(-32700)), "{told}");
    assert!(told["error"]["message"].as_str().unwrap().contains("twice"), "{told}");
    bridge.is_told("hello");
    assert_eq!(bridge.says()["error"]["code"], -32700);
    bridge.is_told("");
    assert_eq!(bridge.asks(&request(2, "ping", json!({})))["id"], 2);
}
