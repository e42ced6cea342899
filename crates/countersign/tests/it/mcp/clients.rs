//! The official MCP clients as published: npm's `@modelcontextprotocol/client` and PyPI's `mcp`, each with the current
//! and an earlier version of the protocol, over HTTP and over standard input and output.

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

/// A complete round of the client's agent, with alice answering the questions.
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

/// The agent asks instead of guessing, gets answers, confirms, and fetches the audit.
fn clarifies(stage: &Stage, mut client: Program) {
    client.says();
    let mut call = |tool: &str, arguments: Value| client.asks(&json!({ "tool": tool, "arguments": arguments }));
    let plan = json!({ "plan_object": { "components": [{ "name": "form" }], "languages": ["ar-sa"] } });
    let asked = call("wwa_clarify_check", plan.clone())["structuredContent"].clone();
    assert_eq!(asked["status"], "needs_clarification", "{asked}");
    let session = json!({ "session_id": asked["session_id"] });
    let refused = call("wwa_clarify_confirm", session.clone());
    assert_eq!(
        (&refused["isError"], &refused["structuredContent"]["status"]),
        (&json!(false), &json!("needs_clarification"))
    );
    for (gap, answer) in [("gap-001", "button"), ("gap-002", "accept")] {
        let arguments = json!({ "session_id": asked["session_id"], "gap_id": gap, "answer": answer });
        let told = call("wwa_clarify_resolve", arguments)["structuredContent"].clone();
        assert_eq!((&told["status"], &told["accepted_answer"]), (&json!("resolved"), &json!(answer)), "{told}");
    }
    let ready =
        call("wwa_clarify_check", json!({ "plan_object": plan["plan_object"], "session_id": asked["session_id"] }));
    assert_eq!(ready["structuredContent"]["status"], "ready_to_proceed", "{ready}");
    let confirmed = call("wwa_clarify_confirm", session.clone())["structuredContent"].clone();
    assert_eq!(
        (&confirmed["status"], &confirmed["plan"]["components"][0]["type"]),
        (&json!("plan_accepted"), &json!("button"))
    );
    let audit = call("wwa_clarify_audit", session)["structuredContent"].clone();
    assert_eq!(audit["record"]["total_rounds"], 2, "{audit}");
    assert!(client.ends().0.success());
    stage.folder.write("audit.json", &audit.to_string());
    let verified = stage.folder.run_words(&["clarify", "verify", "audit.json"], &[]);
    assert_eq!(verified.code, 0, "{}{}", verified.out, verified.err);
}

/// WWA-2-05
#[test]
fn stock_clients_of_both_authors_clarify_over_http() {
    let stage = Stage::set("clarify-http");
    clarifies(&stage, typescript(over_http(&stage), json!("auto")));
    // The same key with the same plan would find the previous session.
    let stage = Stage::set("clarify-http-legacy");
    clarifies(&stage, python(over_http(&stage), json!("legacy")));
}

/// WWA-2-05
#[test]
fn stock_clients_of_both_authors_clarify_over_stdio() {
    let stage = Stage::set("clarify-stdio");
    clarifies(&stage, typescript(over_stdio(&stage), json!("legacy")));
    let stage = Stage::set("clarify-stdio-now");
    clarifies(&stage, python(over_stdio(&stage), json!("auto")));
}

/// Asks a person in every way, receives answers and a rejection, and withdraws a question. A client that validates
/// responses against the published schema throws if one does not fit.
fn hears_every_answer(stage: &Stage, mut client: Program) {
    client.says();
    let mut call = |tool: &str, arguments: Value| {
        let told = client.asks(&json!({ "tool": tool, "arguments": arguments }));
        assert!(told.get("thrown").is_none() && told["isError"] == json!(false), "{tool}: {told}");
        told["structuredContent"].clone()
    };
    let id = |asked: &Value| asked["decision_id"].as_str().unwrap().to_owned();
    let choices = json!([{ "value": "a", "label": "A" }, { "value": "b", "label": "B" }]);
    for (kind, text, answer) in [
        ("freetext", "the blue one", json!("the blue one")),
        ("yes_no", "yes", json!(true)),
        ("numeric", "6.5", json!(6.5)),
        ("multiple_choice", "b", json!("b")),
    ] {
        let mut question = json!({ "question": format!("Which {kind}?"), "accepted_response_kinds": [kind] });
        if kind == "multiple_choice" {
            question["choices"] = choices.clone();
        }
        let asked = id(&call("request_clarification", question));
        stage.responds(&asked, text);
        let told = call("await_decision", json!({ "decision_id": asked }));
        assert_eq!((&told["state"], &told["response"]), (&json!("answered"), &answer), "{told}");
    }
    let asked = id(&call("request_confirmation", letter("to nobody")));
    stage.rejects(&asked);
    assert_eq!(call("await_decision", json!({ "decision_id": asked }))["state"], "rejected");
    let asked = id(&call("request_confirmation", letter("to somebody")));
    assert_eq!(call("withdraw_question", json!({ "decision_id": asked }))["state"], "cancelled");
    assert_eq!(call("list_actions", json!({}))["actions"][0]["name"], "mail.send");
    assert!(client.ends().0.success());
}

/// Gets a plan approved, reports its own step and cancels the plan.
fn goes_through_a_plan(stage: &Stage, mut client: Program) {
    const PLAN: &str = "8d5b1f0a-3c27-4e94-9a61-2f7d40c3b815";
    const STEP: &str = "2c9e7b14-6f53-4a08-b2d7-91f4a6e03c85";
    client.says();
    let mut call = |tool: &str, arguments: Value| {
        let told = client.asks(&json!({ "tool": tool, "arguments": arguments }));
        assert!(told.get("thrown").is_none() && told["isError"] == json!(false), "{tool}: {told}");
        told["structuredContent"].clone()
    };
    let plan = json!({ "plan": {
        "meta": { "protocol_version": "1.0.0", "schema_version": "1.0.0" },
        "plan_id": PLAN, "context_id": STEP, "title": "Tidy", "objective": "No old notes", "status": "draft",
        "steps": [{ "step_id": STEP, "description": "Look for old notes", "status": "pending" }],
    } });
    let proposed = call("propose_plan", plan);
    let asked = proposed["decision"]["decision_id"].as_str().unwrap();
    stage.accepts(asked);
    let approved = call("await_decision", json!({ "decision_id": asked }));
    assert!(approved["next"].as_str().unwrap().contains("report_step"), "{approved}");
    let begun = call("report_step", json!({ "plan_id": PLAN, "step_id": STEP, "status": "in_progress" }));
    assert_eq!(begun["steps"][0]["status"], "in_progress", "{begun}");
    let over = call("cancel_plan", json!({ "plan_id": PLAN, "reason": "it is tidy" }));
    assert_eq!(over["status"], "cancelled", "{over}");
    assert_eq!(call("plan_status", json!({ "plan_id": PLAN }))["status"], "cancelled");
    assert!(client.ends().0.success());
}

///
#[test]
fn stock_clients_of_both_authors_get_every_answer_of_a_person() {
    let stage = Stage::set("answers-ts");
    hears_every_answer(&stage, typescript(over_http(&stage), json!("legacy")));
    goes_through_a_plan(&stage, typescript(over_stdio(&stage), json!("auto")));
    let stage = Stage::set("answers-py");
    hears_every_answer(&stage, python(over_http(&stage), json!("auto")));
    goes_through_a_plan(&stage, python(over_stdio(&stage), json!("legacy")));
}
